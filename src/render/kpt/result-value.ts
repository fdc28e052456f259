/** Values in what a function reports: results end in logs and in `results.yaml`, so a credential is not told. */
import type { FieldPath } from '../../krm/field-path.ts'
import { looksSecret } from '../../krm/redaction/looks-secret.ts'
import { textAt, type YamlMap } from '../../yaml/yaml-node.ts'

/** What newer versions of apply-setters put in place of a credential (krm-functions-catalog, `apply-setters/trim.go`). */
export const REDACTED = '<redacted>'

/**
 * The text, or `REDACTED` where it is, by its place, by its own form or by the name of a setter, a credential.
 * @param setters names of the setters that the value has to do with
 */
export function resultValue(item: YamlMap, steps: FieldPath, text: string, setters: readonly string[] = []): string {
  const hidden =
    isSecretData(item, steps) || looksSecret(steps, text) || setters.some((name) => looksSecret([{ kind: 'field', name }], text))
  return hidden ? REDACTED : text
}

function isSecretData(item: YamlMap, [first]: FieldPath): boolean {
  return textAt(item, 'kind') === 'Secret' && first?.kind === 'field' && (first.name === 'data' || first.name === 'stringData')
}
