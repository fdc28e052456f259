export { hasSecretText } from './krm/redaction/credential-text.ts'
export { type Loggable, loggableName, loggableText } from './krm/redaction/loggable.ts'
export {
  isCopyOfTheObject,
  isEmbeddedSecret,
  looksSecret,
  whySecret,
} from './krm/redaction/looks-secret.ts'
export { PlainValues, pairedValues } from './krm/redaction/plain-values.ts'
export {
  isHiddenOfSecret,
  isSecret,
  isSensitive,
  keyedHash,
  type RedactionKey,
  redact,
  redactionKey,
  redactUnread,
  type Shown,
  show,
  shownJson,
  type Visibility,
  whyHidden,
} from './krm/redaction/redacted.ts'
export { shownObject, shownWithHidden, type VisibilityOf } from './krm/redaction/shown-object.ts'
export { shownPath, shownPathOnly, withoutHashes } from './krm/redaction/shown-path.ts'
export {
  hasEncrypted,
  isEncryptedEntry,
  isEncryptedValue,
  withoutSops,
} from './krm/redaction/sops.ts'
