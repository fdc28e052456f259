/**
 * The output of `kpt fn render -o`, byte for byte (kpt `pkg/lib/util/cmdutil/cmdutil.go`, `WriteFnOutput`): the resources as one
 * ResourceList, and that text read again as documents or files.
 */
import { writeDocument } from '@backporch/kyaml/edit-yaml'
import type { JsonObject } from '@backporch/kyaml/json'
import { copyNode, jsonOf, withoutDocumentComments, type YamlMap } from '@backporch/kyaml/yaml'
import { isKustomization, isLocalConfig, isOfKpt } from '../desired/not-applied.ts'
import { clearEmptyAnnotations, fileOf } from '../function/item-annotations.ts'
import { FUNCTION_TEXT, formatFunctionInput, readFunctionInput } from '../function/resource-list.ts'
import { isKptfile } from '../package/package-sources.ts'
import type { PassedItems } from './render-files.ts'
import { documentsText, writeItems } from './write-items.ts'

/** As `-o stdout` of kpt. @param items of `runPipeline`; they are not changed */
export function formatResourceList(items: readonly YamlMap[], passed: PassedItems): string {
  // Comments of a document are not comments of its object, and the list holds objects.
  const copies = items.map((item) =>
    passed(item) ? copyNode(item) : withoutDocumentComments(copyNode(item)),
  )
  for (const item of copies) clearEmptyAnnotations(item)
  return formatFunctionInput({ items: copies, config: undefined })
}

/**
 * As `-o unwrap` of kpt, with applied objects only: kpt also prints the Kptfile, which no server takes (docs/adr/0030).
 */
export function formatApplied(items: readonly YamlMap[], passed: PassedItems): string {
  return documentsText('', readAgain(items, passed).filter(isApplied))
}

/** The files of `-o DIR` of kpt, by path in the folder. */
export function outputFiles(
  items: readonly YamlMap[],
  passed: PassedItems,
): ReadonlyMap<string, string> {
  return writeItems(readAgain(items, passed))
}

function readAgain(items: readonly YamlMap[], passed: PassedItems): readonly YamlMap[] {
  return readFunctionInput(formatResourceList(items, passed), FUNCTION_TEXT).items
}

function isApplied(item: YamlMap): boolean {
  const { path } = fileOf(item)
  const object = jsonOf(item)
  return (
    !isKptfile(path) &&
    !isKustomization(object, path) &&
    !isLocalConfig(object) &&
    !isOfKpt(object, 'Kptfile') &&
    !isOfKpt(object, 'ResourceGroup')
  )
}

/** Objects that no file of the package declares in this form. */
export function formatObjects(objects: readonly JsonObject[]): string {
  return objects.map((object) => writeDocument(object)).join('---\n')
}
