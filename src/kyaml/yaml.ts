export { findAnchorUses } from './yaml/anchor-uses.ts'
export { formatGoFloat, isTextToAll, resolveGoScalar } from './yaml/go-scalar.ts'
export {
  convertJsonToYaml,
  convertToCoreJson,
  convertToKptJson,
  convertToKubectlJson,
  convertYamlToJson,
  copyNode,
  createYamlList,
  createYamlMap,
  createYamlPlain,
  createYamlText,
  findEntry,
  findNodeAt,
  findTextAt,
  formatLongTag,
  getYamlKey,
  isMergeKey,
  isNull,
  listItemsAt,
  mapAt,
  mapCreatedAt,
  readGoKey,
  removeEntry,
  resolveAlias,
  setEntry,
  type YamlAlias,
  type YamlEntry,
  type YamlList,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
  type YamlSource,
} from './yaml/yaml-node.ts'
export { findNearestNode, findNodeAtPath, findPathTo } from './yaml/yaml-path.ts'
export {
  copyLostComments,
  removeDocumentComments,
  syncKeyOrder,
} from './yaml/yaml-resource-list.ts'
export { detectSequenceIndent } from './yaml/yaml-sequence-indent.ts'
export { derivePlainTag, getWrittenTag, goTimeText, readsAsText } from './yaml/yaml-tag.ts'
