"""The application's `args`, strictly: what an operator may say; a laptop's defaults. Opens nothing, reads no key."""

from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from canvas import ReadOptions
from deployments.base_url import check_base_url
from deployments.engines.vllm_settings import (
    EngineArgument,
    UnsafeEngineSettings,
    VllmSettings,
    check_canvas_tokens,
)
from deployments.limits import MIB, Limits

CLIENT_TIMEOUT_S: Final = 10.0  # the official SDK's; a later answer is one nobody waits for
Positive = Annotated[int, Field(gt=0)]
Seconds = Annotated[float, Field(gt=0, strict=False, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1)]
BaseUrl = Annotated[str, AfterValidator(check_base_url)]
MAX_DEPTH: Final = 200  # Python's JSON parser gives up at about 1,000 levels, inside a request at some hundred fewer
VLLM: Final = VllmSettings(checkpoint=Path(), name="diffusiongemma")  # its defaults are the file's


class Section(BaseModel):
    """A mapping of the file: frozen, no coercion, unknown keys refused."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Secret(Section):
    """Where a secret is: an environment variable's name, or a file. Never the secret itself."""

    env: Name | None = None
    file: Name | None = None

    @model_validator(mode="after")
    def _one(self) -> "Secret":
        if (self.env is None) == (self.file is None):
            raise ValueError("needs exactly one of env and file")
        return self


class EmbeddedEngineSettings(Section):
    """The small model on ONNX Runtime, in the replica."""

    kind: Literal["embedded"] = "embedded"
    checkpoint: Name | None = None
    threads: Annotated[int, Field(ge=0)] = 0
    prefix_cache_mib: Positive = 256


class ScriptedEngineSettings(Section):
    """No model: hashed answers after a latency. For tests and demonstrations of the plumbing."""

    kind: Literal["scripted"]
    latency_ms: Annotated[float, Field(ge=0, strict=False, allow_inf_nan=False)] = 0.0


class VllmEngineSettings(Section):
    """DiffusionGemma by vLLM in the replica; what is safe and why is deployments.engines.vllm_settings' business."""

    kind: Literal["vllm"]
    checkpoint: Name
    name: Name = VLLM.name
    revision: str = VLLM.revision
    canvas_tokens: int = VLLM.canvas_tokens
    max_model_len: int = VLLM.max_model_len
    max_num_seqs: int = VLLM.max_num_seqs
    max_num_batched_tokens: int = VLLM.max_num_batched_tokens
    max_images: Annotated[int, Field(ge=0)] = VLLM.max_images
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "auto"
    quantization: str | None = VLLM.quantization
    tensor_parallel_size: Positive = VLLM.tensor_parallel_size
    gpu_memory_utilization: Annotated[float, Field(gt=0, le=1, strict=False)] = VLLM.gpu_memory_utilization
    enforce_eager: bool = VLLM.enforce_eager
    batch_invariant: bool = VLLM.batch_invariant
    timeout_s: Seconds = VLLM.timeout_s
    engine_arguments: dict[str, EngineArgument] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _safe(self) -> "VllmEngineSettings":
        try:
            self.built()
        except UnsafeEngineSettings as error:
            # Pydantic's form, so that the fault has the setting's place in the file and not its section's.
            fault = PydanticCustomError("unsafe", "{reason}", {"reason": str(error)})
            details = InitErrorDetails(type=fault, loc=(error.setting,), input=self)
            raise ValidationError.from_exception_data("engine", [details]) from error
        return self

    def built(self) -> VllmSettings:
        """Raises UnsafeEngineSettings."""
        given: dict[str, Any] = self.model_dump(exclude={"kind", "checkpoint"})
        return VllmSettings(checkpoint=Path(self.checkpoint), **given)


class RemoteEngineSettings(Section):
    """A vLLM OpenAI server that already runs; `checkpoint` is a folder with its tokenizer.json."""

    kind: Literal["remote"]
    base_url: BaseUrl
    model: Name
    checkpoint: Name
    revision: Name
    canvas_tokens: Annotated[int, AfterValidator(check_canvas_tokens)] = VLLM.canvas_tokens
    api_key: Secret | None = None
    timeout_s: Seconds = VLLM.timeout_s


EngineSettings = Annotated[
    EmbeddedEngineSettings | ScriptedEngineSettings | VllmEngineSettings | RemoteEngineSettings,
    Field(discriminator="kind"),
]


class CacheSettings(Section):
    """Where reads are kept. `redis` is part of the design and not built: refused, not ignored."""

    kind: Literal["memory", "off", "redis"] = "memory"
    memory_mib: Positive = 64

    @model_validator(mode="after")
    def _built(self) -> "CacheSettings":
        if self.kind == "redis":
            raise ValueError("kind redis is not built in this version; use memory or off")
        return self

    @property
    def max_bytes(self) -> int:
        return self.memory_mib * MIB if self.kind == "memory" else 0


class ReadSettings(Section):
    """How the Decision API reads when a request does not say, and how long it may take."""

    packing: Literal["isolated", "packed"] = "isolated"
    layout: Literal["state_first", "questions_first"] = "state_first"
    draws: Annotated[int, Field(ge=1, le=16)] | Literal["auto"] = 1
    max_draws: Annotated[int, Field(ge=1, le=16)] = 4
    deadline_s: Annotated[float, Field(gt=0, lt=CLIENT_TIMEOUT_S, strict=False)] = 9.0
    min_label_mass: Annotated[float, Field(ge=0, le=1, strict=False)] = 0.05

    @model_validator(mode="after")
    def _bounded(self) -> "ReadSettings":
        if "max_draws" in self.model_fields_set and self.draws != "auto" and self.draws > self.max_draws:
            raise ValueError(f"draws: {self.draws} is above max_draws: {self.max_draws}")
        return self

    @property
    def options(self) -> ReadOptions:
        return ReadOptions(packing=self.packing, layout=self.layout, draws=self.draws, max_draws=self.max_draws)


class AdmissionSettings(Section):
    """What one engine replica takes on, in canvases."""

    running: Positive = 64
    queued: Annotated[int, Field(ge=0)] = 2048


class LimitSettings(Section):
    """Bounds on one request; the defaults and their sources are in deployments.limits."""

    body_mib: Positive = 8
    multipart_mib: Positive = 32
    depth: Annotated[int, Field(gt=0, le=MAX_DEPTH)] = 32
    questions: Positive = 400
    batch_states: Positive = 64
    images: Positive = 8
    image_mib: Positive = 16
    image_side_px: Positive = 4096

    @property
    def limits(self) -> Limits:
        return Limits(
            body_bytes=self.body_mib * MIB,
            multipart_bytes=self.multipart_mib * MIB,
            depth=self.depth,
            questions=self.questions,
            batch_states=self.batch_states,
            images=self.images,
            image_bytes=self.image_mib * MIB,
            image_side_px=self.image_side_px,
        )


class KeySettings(Section):
    """One tenant: its key, which policies it may name (absent: all), and its limits a minute."""

    key: Secret
    policies: list[Name] | None = None
    requests_per_minute: Positive | None = None
    questions_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None


class ModelSettings(Section):
    """One name of the guard proxy: an OpenAI-compatible base URL, or a model of the litellm SDK, behind it."""

    upstream: BaseUrl | None = None
    litellm: Name | None = None
    mock_response: str | None = None
    upstream_model: Name | None = None
    api_key: Secret | None = None
    timeout_s: Seconds = 600.0
    retries: Annotated[int, Field(ge=0, le=5)] = 1

    @model_validator(mode="after")
    def _one(self) -> "ModelSettings":
        if (self.upstream is None) == (self.litellm is None):
            raise ValueError("needs exactly one of upstream and litellm")
        if self.upstream is not None and self.mock_response is not None:
            raise ValueError(
                "mock_response is litellm's: an upstream is asked, so the answer here would never be given"
            )
        if self.litellm is not None and self.upstream_model is not None:
            raise ValueError("upstream_model is an upstream's: litellm names the model itself")
        return self


class PolicySettings(Section):
    """The directory of policies, and which applies: by model, else the default."""

    directory: Name
    default: Name
    routes: dict[str, Name] = Field(default_factory=dict)


class AuditSettings(Section):
    """Where one line per verdict goes: `stdout`, or a file."""

    stdout: bool = False
    file: Name | None = None

    @model_validator(mode="after")
    def _one(self) -> "AuditSettings":
        if self.stdout and self.file is not None:
            raise ValueError("needs one of stdout and file, not both")
        return self


class Settings(Section):
    """All of it."""

    engine: EngineSettings = EmbeddedEngineSettings()
    names: list[Name] = Field(default_factory=list)
    cache: CacheSettings = CacheSettings()
    read: ReadSettings = ReadSettings()
    admission: AdmissionSettings = AdmissionSettings()
    limits: LimitSettings = LimitSettings()
    keys: dict[Name, KeySettings] = Field(default_factory=dict)
    allow_anonymous: bool = False
    models: dict[Name, ModelSettings] = Field(default_factory=dict)
    policies: PolicySettings | None = None
    audit: AuditSettings = AuditSettings()

    @model_validator(mode="after")
    def _told_apart(self) -> "Settings":
        owners: dict[Secret, str] = {}
        for tenant, key in self.keys.items():
            if key.key in owners:
                raise ValueError(f"keys {owners[key.key]!r} and {tenant!r} are the same secret")
            owners[key.key] = tenant
        return self

    @model_validator(mode="after")
    def _guarded(self) -> "Settings":
        if self.models and self.policies is None:
            raise ValueError("models are proxied under a policy: policies is missing")
        if self.policies is None and any(key.policies for key in self.keys.values()):
            raise ValueError("a key names policies and there are none: policies is missing")
        return self
