/**
 * Records what Config Sync makes of the cases, with its own program:
 *
 *   node test/config-sync/record.ts NOMOS VERSION
 */
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { formatCanonicalJson, isJsonObject, type Json } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { CASES, CLUSTER, type ConfigSyncCase } from './cases.ts'
import { digestOfCases, inOrder, RECORDING } from './recording.ts'

const [program = 'nomos', version = ''] = process.argv.slice(2)
const scratch = mkdtempSync(join(tmpdir(), 'config-sync-record-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))

function recorded({ format, files }: ConfigSyncCase): Json {
  const [source, output] = [join(scratch, 'source'), join(scratch, 'output')]
  for (const each of [source, output]) rmSync(each, { recursive: true, force: true })
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(source, path)), { recursive: true })
    writeFileSync(join(source, path), text)
  }
  const words = [
    'hydrate',
    '--no-api-server-check',
    '--source-format',
    format,
    `--clusters=${CLUSTER}`,
    '--path',
    source,
    '--output',
    output,
  ]
  try {
    execFileSync(program, words, { stdio: 'pipe' })
  } catch (thrown) {
    const said = String((thrown as { readonly stderr?: Buffer }).stderr ?? thrown)
    return { errors: [...new Set(said.match(/KNV\d+/g))].toSorted() }
  }
  const folder = [join(output, CLUSTER), output].find((each) => existsSync(each)) ?? ''
  const printed = existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
        path.endsWith('.yaml'),
      )
    : []
  const documents = printed.flatMap(
    (path) => parseGoYaml(readFileSync(join(folder, path), 'utf8'), path).documents,
  )
  // It prints a declared cluster of this name a second time.
  const objects = new Map(
    documents.flatMap(({ value }) =>
      isJsonObject(value) ? [[formatCanonicalJson(value), value] as const] : [],
    ),
  )
  return { objects: inOrder([...objects.values()]) }
}

const cases = Object.entries(CASES).map(
  ([name, each]) => `    ${JSON.stringify(name)}: ${formatCanonicalJson(recorded(each))}`,
)
const made = {
  'config-sync': version,
  command: 'nomos hydrate --no-api-server-check --source-format FORMAT --clusters=defaultcluster',
}
writeFileSync(
  RECORDING,
  `{\n  "made": ${JSON.stringify(made)},\n  "inputs": ${JSON.stringify(digestOfCases())},\n  "cases": {\n${cases.join(',\n')}\n  }\n}\n`,
)
