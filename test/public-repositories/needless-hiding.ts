/**
 * How many values of manifests that other people published would be hidden, and which: the other side of the measure of leaks
 * (test/hostile/credential-forms.ts). It is run by hand; nothing of a repository is kept.
 *
 *   node test/public-repositories/needless-hiding.ts [--list] FOLDER...
 *
 * Counted are the plain values of every object in every YAML file, without Secrets and objects that hold one, of which
 * everything is hidden on purpose, and without CustomResourceDefinitions, whose many descriptions would make the share small. Templates that are no YAML are skipped. `--list` prints each hidden place with its value.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type FieldPath, findValueAt, formatFieldPath } from '@backporch/kyaml/field'
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '@backporch/kyaml/json'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { createRedactionKey, isEmbeddedSecret, showWithHidden } from '@backporch/kyaml/redaction'
import { readResource } from '@backporch/kyaml/resource'
import { convertYamlToJson } from '@backporch/kyaml/yaml'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { list: { type: 'boolean', default: false } },
})
const KEY = createRedactionKey(new Uint8Array(32).fill(1))

const LEFT_OUT = new Set(['Secret', 'CustomResourceDefinition'])

function leaves(value: Json): number {
  if (isJsonArray(value)) return value.reduce<number>((sum, below) => sum + leaves(below), 0)
  if (isJsonObject(value))
    return Object.values(value).reduce<number>((sum, below) => sum + leaves(below), 0)
  return 1
}

function holdsSecret(value: Json): boolean {
  if (isJsonArray(value)) return value.some(holdsSecret)
  return isJsonObject(value) && (isEmbeddedSecret(value) || Object.values(value).some(holdsSecret))
}

function objectsIn(text: string): readonly JsonObject[] {
  try {
    return readYamlNodes(text, '').flatMap((node) => {
      const value = convertYamlToJson(node)
      return isJsonObject(value) &&
        !('problem' in readResource(value)) &&
        !holdsSecret(value) &&
        !LEFT_OUT.has(String(value['kind']))
        ? [value]
        : []
    })
  } catch {
    return []
  }
}

function line(file: string, object: JsonObject, path: FieldPath): string {
  return `${file} ${String(object['kind'])} ${formatFieldPath(path)}: ${JSON.stringify(findValueAt(object, path) ?? null).slice(0, 300)}`
}

let [allValues, allHidden] = [0, 0]
for (const folder of positionals) {
  let [objects, count, hidden] = [0, 0, 0]
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && /\.ya?ml$/.test(entry.name),
  )
  for (const entry of files) {
    const file = join(entry.parentPath, entry.name)
    for (const object of objectsIn(readFileSync(file, 'utf8'))) {
      const read = readResource(object)
      if ('problem' in read) continue
      objects += 1
      count += leaves(object)
      for (const path of showWithHidden(KEY, read.id, object).hidden) {
        hidden += leaves(findValueAt(object, path) ?? null)
        if (values.list) console.log(line(file.slice(folder.length + 1), object, path))
      }
    }
  }
  ;[allValues, allHidden] = [allValues + count, allHidden + hidden]
  console.log(
    `${folder}: ${objects} objects, ${count} values, ${hidden} hidden (${percent(hidden, count)})`,
  )
}
console.log(`all: ${allValues} values, ${allHidden} hidden (${percent(allHidden, allValues)})`)

function percent(part: number, whole: number): string {
  return `${((100 * part) / Math.max(1, whole)).toFixed(3)} %`
}
