import { Failure } from '@backporch/kyaml/failure'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { textAt } from '@backporch/kyaml/yaml'

/**
 * Whether the text is an inline patch or transformer. As in kustomize, a text that reads as objects is one, and every other text is a path.
 */
export function isInline(text: string): boolean {
  if (!/[\n:{]/.test(text)) return false
  try {
    const documents = readYamlNodes(text.replaceAll('\r\n', '\n'), 'patch')
    return (
      documents.length > 0 &&
      documents.every((node) => textAt(node, 'kind') && textAt(node, 'metadata', 'name'))
    )
  } catch (thrown) {
    if (thrown instanceof Failure) return false
    throw thrown
  }
}
