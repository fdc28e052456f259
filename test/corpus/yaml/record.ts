/**
 * Writes `go-scalars.json`: what the real kubectl reads from each body of `cases.ts`. Run by hand with kubectl in PATH:
 *
 *     node test/corpus/yaml/record.ts
 *
 * `kubectl label --local` decodes a manifest exactly as `apply` does and prints it as JSON without asking a server.
 */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { emptyObject, formatJson, isJsonObject, type Json, parseJson, setKey } from '@backporch/kyaml/json'
import { corpusBodies } from './cases.ts'

const HEADER = 'apiVersion: backporch.dev/v1\nkind: Row\nmetadata: {name: row}\n'
const ENVIRONMENT = { PATH: process.env['PATH'], KUBECONFIG: '/dev/null' }

function kubectl(args: readonly string[], input = ''): { readonly status: number | null; readonly stdout: string } {
  const run = spawnSync('kubectl', args, { input, encoding: 'utf8', env: ENVIRONMENT })
  if (run.error !== undefined) throw run.error
  return { status: run.status, stdout: run.stdout }
}

function read(body: string): Json | undefined {
  const { status, stdout } = kubectl(['label', '--local', '-o', 'json', '-f', '-', 'row=row'], HEADER + body)
  if (status !== 0) return undefined
  const object = parseJson(stdout)
  if (!isJsonObject(object)) throw new Error(`kubectl printed no object for ${JSON.stringify(body)}`)
  const rest = emptyObject()
  for (const [key, value] of Object.entries(object)) if (!['apiVersion', 'kind', 'metadata'].includes(key)) setKey(rest, key, value)
  return rest
}

const version = parseJson(kubectl(['version', '--client', '-o', 'json']).stdout) as { clientVersion: { gitVersion: string } }
const rows = corpusBodies().map((body) => {
  const value = read(body)
  return value === undefined ? { yaml: body, refused: true } : { yaml: body, value }
})
const lines = rows.map((row) => `    ${formatJson(row)}`).join(',\n')
writeFileSync(
  new URL('go-scalars.json', import.meta.url),
  `{\n  "kubectl": ${JSON.stringify(version.clientVersion.gitVersion)},\n  "rows": [\n${lines}\n  ]\n}\n`,
)
console.log(`${rows.length} rows, ${rows.filter((row) => 'refused' in row).length} of them refused by kubectl`)
