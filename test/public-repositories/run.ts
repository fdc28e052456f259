/**
 * Runs the real command line over repositories that other people wrote, and prints one row for each. It is run by hand, once
 * for each release candidate; nothing of a repository is kept.
 *
 *   node test/public-repositories/run.ts [--control-plane] [--details] [--jobs N] ADDRESS|PATH...
 *
 * Each unit that renders is compared with a cluster in which exactly that was applied: a recording that is made of what was
 * rendered, with the field sets that a server keeps, so that all kinds are there and nothing else is needed; or, with
 * --control-plane, a real API server on which `kubectl apply --server-side` put it, which proves what the server makes of it too.
 * Every line of drift is then a false one, and the exit code 1. Units are packages; in a repository
 * without any they are the folders that hold YAML.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { inferSchema } from '@backporch/cluster/recording'
import { buildFieldSet } from '@backporch/kyaml/field'
import { formatJson, isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import { listDocumentObjects, parseGoYaml } from '@backporch/kyaml/read-yaml'
import { isNamespacedKind, readResource } from '@backporch/kyaml/resource'
import { sharedControlPlane } from '../controlplane/shared-control-plane.ts'
import { fieldsV1Of } from '../fakes/live-object.ts'
import { PROGRAM } from '../program.ts'

interface Row {
  readonly repository: string
  /** `65 packages`, `9 folders`. */
  readonly units: string
  readonly rendered: number
  readonly objects: number
  /** Of drift, although nobody touched anything. */
  readonly lines: number
  readonly unverified: number
  /** Lines of notes on stderr, and notes in all. */
  readonly notes: string
  readonly seconds: number
  /** Why units were not rendered, by code. */
  readonly refused: string
}

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** The parts of a drift report list that are counted. */
interface List {
  readonly items: readonly { readonly spec: { readonly changes: readonly object[] } }[]
  readonly incomplete: readonly { readonly code: string; readonly why: string }[]
  readonly notes?: readonly { readonly cause: string; readonly count: number }[]
}

const SYNCER = 'public-repositories'
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'control-plane': { type: 'boolean', default: false },
    jobs: { type: 'string', default: '2' },
    details: { type: 'boolean', default: false },
  },
})
if (positionals.length === 0) {
  console.error('name at least one repository: an address, or a path')
  process.exit(2)
}
const plane = values['control-plane'] ? await sharedControlPlane({}) : undefined
if (plane?.state === 'unavailable') {
  console.error(plane.why)
  process.exit(2)
}
const kubeconfig = plane?.kubeconfig
// Units may declare the same objects: on one server they are tried one after the other.
const jobs = plane === undefined ? Number(values.jobs) : 1
const scratch = mkdtempSync(join(tmpdir(), 'backporch-public-'))
try {
  const rows: Row[] = []
  for (const repository of positionals) {
    const row = await tryRepository(repository)
    rows.push(row)
    console.error(
      `${row.repository}: ${row.rendered} of ${row.units} rendered, ${row.lines} lines, ${row.seconds} s`,
    )
  }
  printTable(rows)
  process.exitCode = rows.some(({ lines }) => lines > 0) ? 1 : 0
} finally {
  rmSync(scratch, { recursive: true, force: true })
  await plane?.stop()
}

async function tryRepository(address: string): Promise<Row> {
  const started = Date.now()
  const repo = /^[a-z+]+:\/\/|^[^/]+@/.test(address) ? address : resolve(address)
  const folder = mkdtempSync(join(scratch, 'one-'))
  const listed = await backporch(['get', 'packages', '-o', 'json', '--repo', repo])
  const reported = await backporch(['get', 'packages', '--repo', repo])
  const packages = listed.code === 0 ? packagesOf(listed.stdout) : []
  const isFolders = packages.length === 0
  const units = isFolders ? await foldersOf(repo) : packages
  const counts = { rendered: 0, objects: 0, lines: 0, unverified: 0 }
  const refused = new Map<string, number>()
  const notes = new Map<string, number>(notesOf(listed.stdout))
  await each(units, jobs, async (unit, index) => {
    const named = isFolders ? ['--path', unit] : [unit]
    const rendered = await backporch([
      'render',
      ...named,
      '-o',
      'unwrap',
      '--repo',
      repo,
      '--allow-render',
      'kubectl',
    ])
    if (rendered.code !== 0) {
      const code = /error (BP\d+)/.exec(rendered.stderr)?.[1] ?? `exit ${rendered.code}`
      refused.set(code, (refused.get(code) ?? 0) + 1)
      if (values.details) console.error(`${address} ${unit}: ${rendered.stderr.trim()}`)
      return
    }
    counts.rendered += 1
    const cluster = await clusterOf(rendered.stdout, join(folder, String(index)))
    if ('why' in cluster) {
      refused.set('not applied', (refused.get('not applied') ?? 0) + 1)
      if (values.details) console.error(`${address} ${unit}: ${cluster.why}`)
      return
    }
    const diff = await backporch([
      'diff',
      ...named,
      '-o',
      'json',
      '--repo',
      repo,
      '--allow-render',
      'kubectl',
      '--field-manager',
      SYNCER,
      ...cluster.flags,
    ])
    const list = parseList(diff.stdout)
    const lines = list?.items.reduce((sum, { spec }) => sum + spec.changes.length, 0) ?? 0
    counts.objects += cluster.objects
    counts.lines += lines
    counts.unverified += list?.incomplete.length ?? 1
    for (const [cause, count] of notesOf(diff.stdout))
      notes.set(cause, (notes.get(cause) ?? 0) + count)
    if (values.details && (lines > 0 || list === undefined || list.incomplete.length > 0))
      console.error(
        `${address} ${unit}: ${lines} lines ${list?.incomplete.map(({ code, why }) => `${code} ${why}`).join('; ') ?? diff.stderr}`,
      )
  })
  const noteLines = reported.stderr.split('\n').filter((line) => line.startsWith('note: ')).length
  return {
    repository: basename(address.replace(/\/+$/, '').replace(/\/repo$/, '')),
    units: `${units.length} ${isFolders ? 'folders' : 'packages'}`,
    ...counts,
    notes: `${noteLines} of ${[...notes.values()].reduce((sum, count) => sum + count, 0)}`,
    seconds: Math.round((Date.now() - started) / 1000),
    refused: [...refused].map(([code, count]) => `${code} ${count}`).join(', '),
  }
}

/** Paths of the packages on the base branch; `.` where the repository is one. */
function packagesOf(text: string): readonly string[] {
  const { items } = JSON.parse(text) as {
    readonly items: readonly {
      readonly packagePath: string
      readonly ref: string
      readonly revision: number
    }[]
  }
  return [
    ...new Set(
      items
        .filter(({ ref, revision }) => ref.startsWith('refs/heads/') && revision === -1)
        .map(({ packagePath }) => packagePath || '.'),
    ),
  ]
}

/** Folders with a YAML file right in them, but for charts and what begins with a dot. Only of a repository on this machine. */
async function foldersOf(repo: string): Promise<readonly string[]> {
  const listed = await run('git', ['-C', repo, 'ls-tree', '-r', '--name-only', 'HEAD'])
  const files = listed.stdout.split('\n').filter((path) => path !== '' && !/(^|\/)\./.test(path))
  const charts = files
    .filter((path) => /(^|\/)Chart\.yaml$/.test(path))
    .map((path) => path.replace(/\/?Chart\.yaml$/, ''))
  const folders = files
    .filter(
      (path) => /\.ya?ml$/.test(path) && !charts.some((chart) => path.startsWith(`${chart}/`)),
    )
    .map((path) => (path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '.'))
  return [...new Set(folders)].sort()
}

type Cluster =
  | { readonly flags: readonly string[]; readonly objects: number }
  | { readonly why: string }

/** Where exactly these objects were applied. */
async function clusterOf(text: string, folder: string): Promise<Cluster> {
  mkdirSync(folder)
  const file = join(folder, 'rendered.yaml')
  writeFileSync(file, text)
  const objects = parseGoYaml(text, 'rendered').documents.flatMap((document) =>
    listDocumentObjects(document, text, 'rendered').flatMap(({ object }) =>
      isJsonObject(object) ? [object] : [],
    ),
  )
  if (kubeconfig !== undefined) {
    const applied = await applyToServer(kubeconfig, objects, file)
    return applied.code === 0
      ? { flags: ['--kubeconfig', kubeconfig], objects: objects.length }
      : { why: applied.stderr.trim() }
  }
  const live = join(folder, 'live.json')
  writeFileSync(
    live,
    formatJson({
      apiVersion: 'v1',
      kind: 'List',
      items: objects.map((object) => asApplied(placed(object))),
    }),
  )
  return { flags: ['--live', live], objects: objects.length }
}

/** Namespaces first; a second time, because kinds that the first one declared are served a moment later. */
async function applyToServer(
  server: string,
  objects: readonly JsonObject[],
  file: string,
): Promise<Ended> {
  const namespaces = new Set(
    objects.flatMap((object) => {
      const resource = readResource(object)
      return 'problem' in resource || resource.id.namespace === '' ? [] : [resource.id.namespace]
    }),
  )
  for (const name of namespaces)
    await run('kubectl', ['--kubeconfig', server, 'create', 'namespace', name])
  const apply = [
    '--kubeconfig',
    server,
    'apply',
    '--server-side',
    '--force-conflicts',
    `--field-manager=${SYNCER}`,
    '--filename',
    file,
  ]
  const first = await run('kubectl', apply)
  return first.code === 0 ? first : run('kubectl', apply)
}

/** With the field set that the server keeps of an apply, where nothing is known of the kind. */
function asApplied(object: JsonObject): JsonObject {
  const {
    apiVersion = '',
    kind = '',
    metadata,
  } = object as {
    readonly apiVersion?: string
    readonly kind?: string
    readonly metadata: JsonObject
  }
  const fieldsV1 = fieldsV1Of(buildFieldSet(object, inferSchema(apiVersion, kind, [])))
  const entry = {
    manager: SYNCER,
    operation: 'Apply',
    apiVersion,
    time: '2026-01-01T00:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1,
  }
  return {
    ...object,
    metadata: { ...metadata, uid: 'recorded', resourceVersion: '1', managedFields: [entry] },
  } as JsonObject
}

/** As the server takes it: what lies in a namespace and names none goes to `default`. */
function placed(object: JsonObject): JsonObject {
  const resource = readResource(object)
  if (
    'problem' in resource ||
    resource.id.namespace !== '' ||
    isNamespacedKind(resource.apiVersion, resource.id.kind) !== true
  )
    return object
  const { metadata } = object as { readonly metadata: JsonObject }
  return { ...object, metadata: { ...metadata, namespace: 'default' } } as JsonObject
}

function parseList(text: string): List | undefined {
  try {
    return JSON.parse(text) as List
  } catch {
    return undefined
  }
}

function notesOf(text: string): readonly (readonly [string, number])[] {
  return (parseList(text)?.notes ?? []).map(({ cause, count }) => [cause, count] as const)
}

function backporch(args: readonly string[]): Promise<Ended> {
  return run(process.execPath, [PROGRAM, ...args])
}

function run(program: string, args: readonly string[]): Promise<Ended> {
  // The key only has to be the same within one run, and nothing is left in the user's folders.
  const env = {
    ...process.env,
    BACKPORCH_KEY: '00'.repeat(32),
    BACKPORCH_CACHE: join(scratch, 'cache'),
  }
  return new Promise((done) => {
    execFile(program, args, { env, maxBuffer: 1 << 30 }, (failure, stdout, stderr) => {
      done({ code: failure === null ? 0 : Number(failure.code ?? 1), stdout, stderr })
    })
  })
}

async function each<T>(
  all: readonly T[],
  width: number,
  work: (one: T, index: number) => Promise<void>,
): Promise<void> {
  const left = [...all.entries()]
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift())
      await work(next[1], next[0])
  }
  await Promise.all(Array.from({ length: Math.max(1, width) }, worker))
}

function printTable(rows: readonly Row[]): void {
  const columns = [
    'repository',
    'units',
    'rendered',
    'objects',
    'lines',
    'unverified',
    'notes',
    'seconds',
    'refused',
  ] as const
  const cells = [
    columns.map((name) => name.toUpperCase()),
    ...rows.map((row) => columns.map((name) => String(row[name]))),
  ]
  const widths = columns.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)))
  for (const row of cells)
    console.log(
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
}
