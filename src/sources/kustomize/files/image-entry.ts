import type { JsonObject } from '@backporch/kyaml/json'
import { splitReference } from '@backporch/kyaml/text'

export function parseImageEntry(text: string): JsonObject {
  const equals = text.indexOf('=')
  const { name, tag, digest } = splitReference(text.slice(equals + 1))
  return {
    ...(equals === -1 ? { name } : { name: text.slice(0, equals), newName: name }),
    newTag: tag ?? '',
    digest: digest ?? '',
  }
}
