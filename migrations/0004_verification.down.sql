DROP TABLE rate_limits, captchas, verification_tokens, verification_codes;
