/** The demo's two recordings, taken from a control plane of one's own. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import type { ClusterReader } from '@backporch/cluster/cluster'
import { connectCluster } from '@backporch/cluster/connect-cluster'
import { formatCanonicalJson, isJsonEqual, type Json, parseJson } from '@backporch/kyaml/json'
import { getResourceKey, type Resource, type WantedObject } from '@backporch/kyaml/resource'
import { systemClock } from '../../src/adapters/system/system-clock.ts'
import type { CliContext } from '../../src/cli/context/cli-context.ts'
import { type DemoFolder, makeDemoFolder } from '../../src/cli/demo/demo-folder.ts'
import { DEMO_FILES, NAMESPACE } from '../../src/cli/demo/demo-package.ts'
import { CLUSTER, DECISIONS, SYNCER, TIMES } from '../../src/cli/demo/story.ts'
import { runCli } from '../../src/cli/run-cli.ts'
import { wire } from '../../src/wire.ts'
import { recordCluster } from '../apiserver/record-cluster.ts'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { finishRollouts } from './finish-rollout.ts'
import { makeHandEdits } from './hand-edits.ts'
import { normaliseRecording } from './normalise-recording.ts'
import { prepareCluster, syncPackage } from './syncer.ts'

/** Files of a recording, by path. */
type RecordingFiles = Readonly<Record<string, Json>>

export interface Recordings {
  /** What both recordings have. */
  readonly schemas: RecordingFiles
  readonly drifted: RecordingFiles
  readonly settled: RecordingFiles
}

/** Changes the plane: needs one that nobody else uses. */
export async function recordDemo(plane: ControlPlane): Promise<Recordings> {
  const signal = new AbortController().signal
  const world = wire(process, signal)
  const folder = await makeDemoFolder(world, undefined)
  const options = {
    kubeconfig: plane.kubeconfig,
    name: CLUSTER,
    environment: {},
    clock: systemClock,
    version: world.version,
  }
  const { reader, close } = connectCluster(options)
  const spy = new Spy(reader)
  const recorded = async (observedAt: string): Promise<RecordingFiles> => {
    const path = mkdtempSync(join(tmpdir(), 'demo-recording-'))
    try {
      await recordCluster(
        reader,
        { wanted: spy.wanted, predictions: spy.predictions },
        path,
        signal,
      )
      return normaliseRecording(readFiles(path), observedAt)
    } finally {
      rmSync(path, { recursive: true })
    }
  }
  const backporch = (...args: readonly string[]): Promise<void> => runIn(world, folder, spy, args)
  try {
    await prepareCluster(plane, NAMESPACE)
    for (const name of ['apps/web', 'apps/orders'])
      await syncPackage(plane, DEMO_FILES, name, SYNCER)
    await makeHandEdits(plane)
    await finishRollouts(plane)
    await backporch('scan')
    await backporch(...DECISIONS.adopt)
    await backporch(...DECISIONS.release)
    await backporch(...DECISIONS.adoptRequest)
    for (const name of ['apps/orders', 'apps/web']) await backporch('approve', name, '--yes')
    // What is asked of the drifted cluster once the decision is in git.
    await backporch('diff')
    const drifted = await recorded(TIMES.drifted)
    for (const name of ['apps/web', 'apps/orders'])
      await syncPackage(plane, await filesOfMain(folder), name, SYNCER)
    await finishRollouts(plane)
    await backporch('scan')
    return withSharedSchemas(drifted, await recorded(TIMES.settled))
  } finally {
    close()
    rmSync(folder.root, { recursive: true })
  }
}

function withSharedSchemas(drifted: RecordingFiles, settled: RecordingFiles): Recordings {
  const [first, second] = [pick(drifted, true), pick(settled, true)]
  for (const path of Object.keys(second)) {
    if (!isJsonEqual(first[path], second[path]))
      throw new Error(`${path} is not the same in both recordings`)
  }
  return { schemas: first, drifted: pick(drifted, false), settled: pick(settled, false) }
}

function pick(files: RecordingFiles, schemas: boolean): RecordingFiles {
  return Object.fromEntries(
    Object.entries(files).filter(([path]) => path.startsWith('schemas/') === schemas),
  )
}

/** JSON with one line per file, so that a change of the recording can be read. */
export function formatRecordings(recordings: Recordings): string {
  const parts = Object.entries(recordings).map(([name, files]: [string, RecordingFiles]) => {
    const lines = Object.entries(files).map(
      ([path, value]) => `    ${JSON.stringify(path)}: ${formatCanonicalJson(value)}`,
    )
    return `  ${JSON.stringify(name)}: {\n${lines.join(',\n')}\n  }`
  })
  return `{\n${parts.join(',\n')}\n}\n`
}

/** Answers as the cluster does, and keeps what was asked. */
class Spy implements ClusterReader {
  readonly name: string
  readonly identify: ClusterReader['identify']
  readonly findServedKind: ClusterReader['findServedKind']
  readonly list: ClusterReader['list']
  readonly readInventories: ClusterReader['readInventories']
  private readonly reader: ClusterReader
  private readonly requested = new Map<string, WantedObject>()
  private readonly dryRuns = new Map<
    string,
    { readonly resource: Resource; readonly fieldManager: string }
  >()

  constructor(reader: ClusterReader) {
    this.reader = reader
    this.name = reader.name
    this.identify = (signal) => reader.identify(signal)
    this.findServedKind = (apiVersion, kind, signal) =>
      reader.findServedKind(apiVersion, kind, signal)
    this.list = (group, kind, signal) => reader.list(group, kind, signal)
    this.readInventories = (refs, signal) => {
      for (const ref of refs) {
        if (!('id' in ref)) continue
        const { namespace, name = '' } = ref
        const id = { group: 'kpt.dev', kind: 'ResourceGroup', namespace, name }
        this.requested.set(getResourceKey(id), { id, apiVersion: 'kpt.dev/v1alpha1' })
      }
      return reader.readInventories(refs, signal)
    }
  }

  get wanted(): readonly WantedObject[] {
    return [...this.requested].sort(byKey).map(([, one]) => one)
  }

  get predictions(): readonly { readonly resource: Resource; readonly fieldManager: string }[] {
    return [...this.dryRuns].sort(byKey).map(([, one]) => one)
  }

  readLive: ClusterReader['readLive'] = (wanted, signal) => {
    for (const one of wanted) this.requested.set(getResourceKey(one.id), one)
    return this.reader.readLive(wanted, signal)
  }

  predict: ClusterReader['predict'] = (resource, fieldManager, signal) => {
    const { id, apiVersion, object } = resource
    this.dryRuns.set(`${fieldManager} ${formatCanonicalJson(object)}`, {
      resource: { id, apiVersion, object },
      fieldManager,
    })
    return this.reader.predict(resource, fieldManager, signal)
  }
}

function byKey([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : 1
}

async function runIn(
  world: CliContext,
  { repository, env }: DemoFolder,
  reader: ClusterReader,
  args: readonly string[],
): Promise<void> {
  const parts: string[] = []
  const output = { write: (text: string) => parts.push(text) }
  const location = world.at({
    cwd: repository,
    env,
    clock: systemClock,
    stdout: output,
    stderr: output,
  })
  const code = await runCli(args, {
    ...location,
    openCluster: async () => ({ reader, close: () => undefined }),
  })
  if (process.env['BACKPORCH_DEMO_SHOW'] !== undefined)
    process.stderr.write(`$ ${args.join(' ')}\n${parts.join('')}`)
  if (code > 1)
    throw new Error(`backporch ${args.join(' ')} ended with ${code}:\n${parts.join('')}`)
}

async function filesOfMain(folder: DemoFolder): Promise<Record<string, string>> {
  const paths = (await folder.git('ls-tree', '-r', '--name-only', 'main', 'apps'))
    .trim()
    .split('\n')
  const texts = await Promise.all(paths.map((path) => folder.git('show', `main:${path}`)))
  return Object.fromEntries(paths.map((path, index) => [path, texts[index] ?? '']))
}

function readFiles(folder: string): Record<string, Json> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const paths = files
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort()
  return Object.fromEntries(
    paths.map((path) => [path, parseJson(readFileSync(join(folder, path), 'utf8'))]),
  )
}
