/** Results end up in logs and in `results.yaml`. */
import type { FieldPath } from '@backporch/kyaml/field'
import { isLikelySecret } from '@backporch/kyaml/redaction'
import { findTextAt, type YamlMap } from '@backporch/kyaml/yaml'

/** As newer apply-setters (krm-functions-catalog, `apply-setters/trim.go`). */
export const REDACTED = '<redacted>'

/** By path, form or setter name. */
export function formatResultValue(
  item: YamlMap,
  steps: FieldPath,
  text: string,
  setters: readonly string[] = [],
): string {
  const hidden =
    isSecretData(item, steps) ||
    isLikelySecret(steps, text) ||
    setters.some((name) => isLikelySecret([{ kind: 'field', name }], text))
  return hidden ? REDACTED : text
}

function isSecretData(item: YamlMap, [first]: FieldPath): boolean {
  return (
    findTextAt(item, 'kind') === 'Secret' &&
    first?.kind === 'field' &&
    (first.name === 'data' || first.name === 'stringData')
  )
}
