/**
 * `kpt fn render -o`, byte for byte (kpt `pkg/lib/util/cmdutil/cmdutil.go`, `WriteFnOutput`): a
 * ResourceList, and that text reread as documents or files.
 */
import { writeDocument } from '@backporch/kyaml/edit-yaml'
import type { JsonObject } from '@backporch/kyaml/json'
import {
  convertYamlToJson,
  copyNode,
  removeDocumentComments,
  type YamlMap,
} from '@backporch/kyaml/yaml'
import { isKustomization, isLocalConfig, isOfKpt } from '../desired/not-applied.ts'
import { clearEmptyAnnotations, getItemFile } from '../function/item-annotations.ts'
import { FUNCTION_TEXT, formatFunctionInput, readFunctionInput } from '../function/resource-list.ts'
import { isKptfile } from '../package/package-sources.ts'
import type { PassedItems } from './render-files.ts'
import { formatDocuments, writeItems } from './write-items.ts'

/** kpt's `-o stdout`. @param items not changed */
export function formatResourceList(items: readonly YamlMap[], passed: PassedItems): string {
  // Document comments do not belong to the object.
  const copies = items.map((item) =>
    passed(item) ? copyNode(item) : removeDocumentComments(copyNode(item)),
  )
  for (const item of copies) clearEmptyAnnotations(item)
  return formatFunctionInput({ items: copies, config: undefined })
}

/** kpt's `-o unwrap` without the Kptfile, which no server accepts (docs/adr/0030). */
export function formatApplied(items: readonly YamlMap[], passed: PassedItems): string {
  return formatDocuments('', readAgain(items, passed).filter(isApplied))
}

/** kpt's `-o DIR`, by path. */
export function writeOutputFiles(
  items: readonly YamlMap[],
  passed: PassedItems,
): ReadonlyMap<string, string> {
  return writeItems(readAgain(items, passed))
}

function readAgain(items: readonly YamlMap[], passed: PassedItems): readonly YamlMap[] {
  return readFunctionInput(formatResourceList(items, passed), FUNCTION_TEXT).items
}

function isApplied(item: YamlMap): boolean {
  const { path } = getItemFile(item)
  const object = convertYamlToJson(item)
  return (
    !isKptfile(path) &&
    !isKustomization(object, path) &&
    !isLocalConfig(object) &&
    !isOfKpt(object, 'Kptfile') &&
    !isOfKpt(object, 'ResourceGroup')
  )
}

export function formatObjects(objects: readonly JsonObject[]): string {
  return objects.map((object) => writeDocument(object)).join('---\n')
}
