export { anchorUses } from './yaml/anchor-uses.ts'
export { formatGoFloat, isTextToAll, resolveGoScalar } from './yaml/go-scalar.ts'
export {
  copyNode,
  coreJsonOf,
  entryOf,
  goKeyOf,
  isMergeKey,
  isNull,
  itemsAt,
  jsonOf,
  keyOf,
  kptJsonOf,
  kubectlJsonOf,
  longTag,
  mapAt,
  mapCreatedAt,
  nodeAt,
  removeEntry,
  resolved,
  setEntry,
  textAt,
  type YamlAlias,
  type YamlEntry,
  type YamlList,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
  type YamlSource,
  yamlList,
  yamlMap,
  yamlOf,
  yamlPlain,
  yamlText,
} from './yaml/yaml-node.ts'
export { nearestNode, nodeAtPath, pathTo } from './yaml/yaml-path.ts'
export {
  copyLostComments,
  syncKeyOrder,
  withoutDocumentComments,
} from './yaml/yaml-resource-list.ts'
export { sequenceIndentOf } from './yaml/yaml-sequence-indent.ts'
export { goTimeText, plainTag, readsAsText, writtenTag } from './yaml/yaml-tag.ts'
