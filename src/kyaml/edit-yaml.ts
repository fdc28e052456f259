/** Writes YAML as kyaml does, and edits files so that only the lines that change do. */
export { editYaml, type YamlEdit } from './yaml/edit/edit-yaml.ts'
export { textOnOneLine } from './yaml/edit/edit-yaml-scalar.ts'
export { EditRefusal, withoutValueAt, withValueAt } from './yaml/edit/edit-yaml-value.ts'
export { writeDocument } from './yaml/edit/edit-yaml-write.ts'
export { patchYamlNode } from './yaml/write/patch-yaml-node.ts'
export { writeYamlDocuments, writeYamlNode } from './yaml/write/write-yaml-node.ts'
