/** Results end up in logs and in `results.yaml`. */
import type { FieldPath } from '@backporch/kyaml/field'
import { looksSecret } from '@backporch/kyaml/redaction'
import { textAt, type YamlMap } from '@backporch/kyaml/yaml'

/** As newer apply-setters (krm-functions-catalog, `apply-setters/trim.go`). */
export const REDACTED = '<redacted>'

/** By path, form or setter name. */
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
