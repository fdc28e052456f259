export {
  type GoYamlDocument,
  type GoYamlFile,
  isObjectList,
  listDocumentObjects,
  parseGoYaml,
} from './yaml/read/go-yaml.ts'
export {
  checkYamlText,
  decodeYaml,
  formatPosition,
  LineIndex,
  MAX_YAML_BYTES,
  splitChunks,
  type TextPosition,
} from './yaml/read/go-yaml-text.ts'
export { describeOthers } from './yaml/read/go-yaml-values.ts'
export { describeMost, MAX_YAML_NODES, NodeMeter } from './yaml/read/read-yaml-limits.ts'
export {
  readDocuments,
  readYamlDocuments,
  readYamlNodes,
  type YamlDocument,
} from './yaml/read/read-yaml-node.ts'
export { YamlRefusal } from './yaml/read/read-yaml-refusal.ts'
