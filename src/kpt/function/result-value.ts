/** Values in a function's results. Results end in logs and in `results.yaml`, so a credential is not shown. */
import type { FieldPath } from '@backporch/kyaml/field'
import { looksSecret } from '@backporch/kyaml/redaction'
import { textAt, type YamlMap } from '@backporch/kyaml/yaml'

/** Text of newer versions of apply-setters in place of a credential (krm-functions-catalog, `apply-setters/trim.go`). */
export const REDACTED = '<redacted>'

/**
 * The text, or `REDACTED` where its path, its form or the name of a setter marks it as a credential.
 * @param setters names of the setters of the value
 */
export function resultValue(
  item: YamlMap,
  steps: FieldPath,
  text: string,
  setters: readonly string[] = [],
): string {
  const hidden =
    isSecretData(item, steps) ||
    looksSecret(steps, text) ||
    setters.some((name) => looksSecret([{ kind: 'field', name }], text))
  return hidden ? REDACTED : text
}

function isSecretData(item: YamlMap, [first]: FieldPath): boolean {
  return (
    textAt(item, 'kind') === 'Secret' &&
    first?.kind === 'field' &&
    (first.name === 'data' || first.name === 'stringData')
  )
}
