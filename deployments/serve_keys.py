"""The keys that Ray Serve 2.60's config file knows. Serve drops a misspelt one without a word; we refuse it.

A table instead of Ray's own models, so that `readgate config check` needs no Ray; a test compares it with them.
An empty mapping stands for a value whose own keys are free.
"""

from collections.abc import Mapping
from typing import Any, Final

Keys = Mapping[str, Any]  # of key to Keys; recursive aliases of Mapping are beyond the type checker's Final inference

FREE: Final[Keys] = {}


def _free(names: str) -> dict[str, Keys]:
    return dict.fromkeys(names.split(), FREE)


LOGGING: Final[Keys] = _free("encoding log_level logs_dir enable_access_log additional_log_standard_attrs")

ACTOR: Final[Keys] = _free(
    "runtime_env num_cpus num_gpus memory resources accelerator_type label_selector fallback_strategy"
)

ROUTER: Final[Keys] = _free(
    "request_router_class request_router_kwargs request_routing_stats_period_s request_routing_stats_timeout_s "
    "initial_backoff_s backoff_multiplier max_backoff_s"
)

AUTOSCALING: Final[Keys] = {
    **_free(
        "min_replicas initial_replicas max_replicas target_ongoing_requests metrics_interval_s look_back_period_s "
        "smoothing_factor upscale_smoothing_factor downscale_smoothing_factor upscaling_factor downscaling_factor "
        "downscale_delay_s downscale_to_zero_delay_s upscale_delay_s aggregation_function"
    ),
    "policy": _free("policy_function policy_kwargs"),
}

DEPLOYMENT: Final[Keys] = {
    **_free(
        "name num_replicas max_ongoing_requests max_queued_requests user_config graceful_shutdown_wait_loop_s "
        "graceful_shutdown_timeout_s health_check_period_s health_check_timeout_s placement_group_bundles "
        "placement_group_strategy placement_group_bundle_label_selector max_replicas_per_node "
        "rolling_update_percentage max_surge_percent"
    ),
    "backpressure_config": _free("status_code retry_after_s"),
    "autoscaling_config": AUTOSCALING,
    "ray_actor_options": ACTOR,
    "logging_config": LOGGING,
    "request_router_config": ROUTER,
    "gang_scheduling_config": _free("gang_size gang_placement_strategy runtime_failure_policy"),
    "deployment_actors": _free("name actor_class init_args init_kwargs actor_options"),
}

APPLICATION: Final[Keys] = {
    **_free("name route_prefix import_path runtime_env host port autoscaling_policy args external_scaler_enabled"),
    "deployments": DEPLOYMENT,
    "logging_config": LOGGING,
}

SERVE: Final[Keys] = {
    **_free("proxy_location target_capacity"),
    "http_options": _free(
        "host port root_path request_timeout_s keep_alive_timeout_s ssl_keyfile ssl_certfile ssl_keyfile_password "
        "ssl_ca_certs"
    ),
    "grpc_options": _free("port grpc_servicer_functions request_timeout_s enable_reflection"),
    "controller_options": _free("runtime_env"),
    "logging_config": LOGGING,
    "tracing_config": _free("enabled exporter_import_path sampling_ratio"),
    "applications": APPLICATION,
}
