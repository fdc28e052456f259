/**
 * Records what Argo CD makes of the cases (`recorded/<group>.json`), with its own code and the tools that it ships:
 *
 *   node test/argo/record.ts [GROUP...]
 *
 * Needs Go for the first run, which builds all of it.
 */
import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import {
  filterObjects,
  filterTexts,
  formatCanonicalJson,
  getTextAt,
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
} from '@backporch/kyaml/json'
import { type ArgoCase, questionOf } from './argo-case.ts'
import { CASES, GROUPS } from './cases/all-cases.ts'
import { findArgo, VERSIONS } from './programs.ts'
import { digestOfCases, type HelmCommand, type RecordedCase, writeRecording } from './recording.ts'

/** Logs each command with its folder and the text of a temporary file of values, and runs Helm. */
const WRAPPER = `#!/bin/sh
before=
{
  printf '%s\\0' "$PWD" "$@"
  printf '\\n\\0'
  for each in "$@"; do
    case "$before $each" in "--values \${TMPDIR}/"????????-????-????-????-????????????) cat "$each" ;; esac
    before=$each
  done
  printf '\\0'
} >> "$HELM_LOG"
exec "$HELM" "$@"
`

const asked = process.argv.slice(2)
const groups = GROUPS.filter((group) => asked.length === 0 || asked.includes(group))
const found = await findArgo()
if (found.state === 'unavailable') throw new Error(found.why)
const { generate, helm, kustomize } = found.programs

const scratch = mkdtempSync(join(tmpdir(), 'argo-record-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
const [bin, temporary, log] = [join(scratch, 'bin'), join(scratch, 'tmp'), join(scratch, 'log')]
for (const folder of [bin, temporary]) mkdirSync(folder)
symlinkSync(kustomize, join(bin, 'kustomize'))
writeFileSync(join(bin, 'helm'), WRAPPER)
chmodSync(join(bin, 'helm'), 0o755)
const env = {
  ...{ PATH: `${bin}:/usr/bin:/bin`, HOME: scratch, TMPDIR: temporary },
  ...{ HELM: helm, HELM_LOG: log },
}
const child = spawn(generate, [], { env, stdio: ['pipe', 'pipe', 'pipe'] })
// Every command is told there; and at last why it ended.
let said = ''
child.stderr.on('data', (bytes: Buffer) => {
  said = `${said}${bytes}`.slice(-2_000)
})
const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()

async function recorded(each: ArgoCase): Promise<RecordedCase> {
  rmSync(log, { force: true })
  child.stdin.write(`${JSON.stringify(questionOf(each))}\n`)
  const { value, done } = await lines.next()
  if (done === true) throw new Error(`the program ended: ${said}`)
  const answer = parseJson(String(value))
  if (!isJsonObject(answer)) throw new Error(`no answer: ${String(value)}`)
  const types = filterObjects(answer['sources']).map((source) => getTextAt(source, 'type'))
  const commands = existsSync(log) ? commandsIn(readFileSync(log, 'utf8')) : []
  const helm = commands.length === 0 ? {} : { helm: commands }
  const error = getTextAt(answer, 'error')
  if (error !== '')
    return { ...(types.length === 0 ? {} : { types }), ...helm, error: plain(error) }
  const objects = filterObjects(answer['objects']).map(
    (object) => parseJson(formatCanonicalJson(object)) as JsonObject,
  )
  const warnings = filterTexts(answer['warnings']).toSorted()
  const sorted = objects
    .map(
      (object) =>
        [formatCanonicalJson(keyOf(object)) + formatCanonicalJson(object), object] as const,
    )
    .sort(([one], [other]) => (one < other ? -1 : 1))
  return {
    types,
    ...helm,
    ...(warnings.length === 0 ? {} : { warnings }),
    objects: sorted.map(([, object]) => object),
  }
}

function keyOf(object: JsonObject): Json {
  return [
    getTextAt(object, 'apiVersion'),
    getTextAt(object, 'kind'),
    getTextAt(object, 'metadata', 'namespace'),
    getTextAt(object, 'metadata', 'name'),
  ]
}

/** Folders of this run are left out: what is left begins with `repository/`. */
function plain(text: string): string {
  return text
    .replace(new RegExp(`${temporary}/argo-\\d+/\\d+/`, 'g'), '')
    .replace(new RegExp(`${temporary}/[0-9a-f-]{36}`, 'g'), 'VALUES')
    .replaceAll(temporary, 'TMP')
}

function commandsIn(text: string): readonly HelmCommand[] {
  const all: HelmCommand[] = []
  let words: string[] = []
  const parts = text.split('\0')
  for (let at = 0; at < parts.length - 1; at += 1) {
    const part = parts[at] ?? ''
    if (part !== '\n') words.push(part)
    else {
      const [folder = '', ...args] = words
      const values = parts[at + 1] ?? ''
      all.push({
        folder: plain(folder),
        args: inOrder(args.map(plain)),
        ...(args.length > 0 && values !== '' ? { values } : {}),
      })
      words = []
      at += 1
    }
  }
  return all
}

/** Argo CD goes through a map of Go: the options of one kind are sorted, which it does not do. */
function inOrder(args: readonly string[]): readonly string[] {
  const sorted = [...args]
  for (const option of ['--set', '--set-string', '--set-file']) {
    const places = sorted.flatMap((word, at) => (word === option ? [at + 1] : []))
    const values = places.map((at) => sorted[at] ?? '').sort()
    for (const [index, at] of places.entries()) sorted[at] = values[index] ?? ''
  }
  return sorted
}

for (const group of groups) {
  const cases: { [name: string]: RecordedCase } = {}
  for (const [name, each] of Object.entries(CASES[group])) cases[name] = await recorded(each)
  const used = group === 'helm' ? { helm: VERSIONS.helm } : {}
  writeRecording(group, {
    made: {
      'argo-cd': VERSIONS['argo-cd'],
      ...used,
      kustomize: VERSIONS.kustomize,
      command: `node test/argo/record.ts ${group}`,
    },
    inputs: digestOfCases(CASES[group]),
    cases,
  })
  const failed = Object.values(cases).filter(({ error }) => error !== undefined).length
  console.log(`${group}: ${Object.keys(cases).length} cases, of which ${failed} are errors`)
}
child.stdin.end()
