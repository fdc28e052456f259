export { hasSecretText } from './krm/redaction/credential-text.ts'
export { formatLoggableName, formatLoggableText, type Loggable } from './krm/redaction/loggable.ts'
export {
  explainSecret,
  isCopyOfTheObject,
  isEmbeddedSecret,
  isLikelySecret,
} from './krm/redaction/looks-secret.ts'
export { PlainValues, pairValues } from './krm/redaction/plain-values.ts'
export {
  computeKeyedHash,
  convertShownToJson,
  createRedactionKey,
  explainHidden,
  isHiddenOfSecret,
  isSecret,
  isSensitive,
  type RedactionKey,
  redact,
  redactUnread,
  type Shown,
  show,
  type Visibility,
} from './krm/redaction/redacted.ts'
export { showObject, showWithHidden, type VisibilityOf } from './krm/redaction/shown-object.ts'
export { formatRedactedPath, formatShownPath, redactHashes } from './krm/redaction/shown-path.ts'
export {
  hasEncrypted,
  isEncryptedEntry,
  isEncryptedValue,
  omitSops,
} from './krm/redaction/sops.ts'
