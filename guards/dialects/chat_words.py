"""The chat API's own vocabulary: keys and values that every honest body holds. Says nothing of where they stand.

No rule accuses them: a pattern for the word `tool` would otherwise act on every answer.
"""

from typing import Final

KEYS: Final = frozenset(
    # requests
    {"messages", "stream", "stream_options", "include_usage", "n", "temperature", "top_p", "top_k", "min_p", "seed"}
    | {"max_tokens", "max_completion_tokens", "logprobs", "top_logprobs", "frequency_penalty", "presence_penalty"}
    | {"repetition_penalty", "logit_bias", "stop", "user", "tools", "functions", "tool_choice", "function_call"}
    | {"parallel_tool_calls", "response_format", "modalities", "reasoning_effort", "verbosity", "store", "metadata"}
    | {"audio", "voice", "format", "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "prediction"}
    | {"service_tier", "web_search_options", "extra_body"}
    # messages and parts
    | {"role", "content", "name", "refusal", "tool_calls", "tool_call_id", "reasoning", "reasoning_content", "id"}
    | {"type", "text", "image_url", "url", "detail", "input_audio", "data", "file", "filename", "file_data", "file_id"}
    | {"function", "arguments", "custom", "input", "cache_control", "annotations", "url_citation", "title"}
    | {"start_index", "end_index", "thinking", "thinking_blocks", "signature", "reasoning_details", "transcript"}
    | {"expires_at", "video_url"}
    # answers
    | {"object", "created", "model", "choices", "index", "message", "delta", "finish_reason", "native_finish_reason"}
    | {"stop_reason", "system_fingerprint", "provider", "usage", "prompt_tokens", "completion_tokens", "total_tokens"}
    | {"prompt_tokens_details", "completion_tokens_details", "cached_tokens", "audio_tokens", "reasoning_tokens"}
    | {"accepted_prediction_tokens", "rejected_prediction_tokens", "text_tokens", "image_tokens", "token", "bytes"}
    | {"logprob", "prompt_logprobs", "prompt_token_ids", "token_ids", "kv_transfer_params", "citations"}
    | {"provider_specific_fields", "obfuscation", "cost"}
    # log-probabilities of completions
    | {"tokens", "token_logprobs", "text_offset"}
    # errors
    | {"error", "code", "param", "status"}
)
VALUES: Final = frozenset(
    {"system", "developer", "user", "assistant", "tool", "function", "custom", "text", "image_url", "input_audio"}
    | {"file", "refusal", "thinking", "reasoning", "reasoning.text", "content", "url_citation", "ephemeral"}
    | {"chat.completion", "chat.completion.chunk", "stop", "length", "tool_calls", "function_call", "content_filter"}
    | {"auto", "none", "required", "default", "flex", "priority", "standard", "minimal", "low", "medium", "high"}
    | {"error", "invalid_request_error", "server_error", "rate_limit_error", "authentication_error"}
    | {"not_found_error", "permission_error", "api_error", "overloaded_error", "insufficient_quota"}
    | {"rate_limit_exceeded", "model_not_found", "context_length_exceeded", "json_object", "json_schema", "audio"}
)


def place(where: str, key: str) -> str:
    """A field's place as errors and audit lines name it: a key that nobody knows may itself be what is accused."""
    name = key if key in KEYS else "*"
    return f"{where}.{name}" if where else name
