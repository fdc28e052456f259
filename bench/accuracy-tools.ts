/** The tools that run on each case of the corpus, each as its users run it. They report by object. */
import { execFileSync, spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import type { Appliers, DifferTool } from '../test/appliers/appliers.ts'
import type { AppliedBy, DriftCase } from '../test/drift-corpus/case.ts'
import { type CaseStage, kubectl, manifestsOf } from '../test/drift-corpus/stage.ts'
import type { Unavailable } from '../test/programs/build-programs.ts'

export interface Peer {
  readonly name: string
  isRequested(one: DriftCase): boolean
  /** The objects that it reports as different. Rejects with its message when it fails. */
  ask(stage: CaseStage): Promise<ReadonlySet<string>>
}

export interface Peers {
  readonly peers: readonly Peer[]
  /** One line for each tool that cannot run here. */
  readonly notRun: readonly string[]
  readonly versions: readonly string[]
}

export function findPeers(appliers: Appliers | Unavailable): Peers {
  const notRun: string[] = []
  const versions: string[] = []
  const peers: Peer[] = []
  const kubectlVersion = versionOf(
    'kubectl',
    ['version', '--client', '-o', 'json'],
    /"gitVersion": "([^"]+)"/,
  )
  if (kubectlVersion === undefined) notRun.push('kubectl: it is not on the PATH')
  else {
    versions.push(`kubectl ${kubectlVersion}`)
    peers.push({ name: 'kubectl diff', isRequested: () => true, ask: kubectlDiff })
  }
  const kptVersion = versionOf('kpt', ['version'], /(\S+)/)
  if (kptVersion === undefined) notRun.push('kpt: it is not on the PATH')
  else {
    versions.push(`kpt ${kptVersion}`)
    peers.push({ name: 'kpt live apply --dry-run', isRequested: isForKpt, ask: kptDryRun })
  }
  if (appliers.state === 'unavailable')
    notRun.push(`Flux's library and Argo CD's engine: ${appliers.why}`)
  else {
    versions.push(
      'Flux and Argo CD as Go libraries in the versions of test/programs/appliers/go.mod',
    )
    for (const tool of ['flux', 'argo-client-side', 'argo-server-side'] as const)
      peers.push({
        name: NAMES[tool],
        isRequested: () => true,
        ask: (stage) => differ(appliers, tool, stage),
      })
  }
  return { peers, notRun, versions }
}

const NAMES: Readonly<Record<DifferTool, string>> = {
  flux: 'Flux, library',
  'argo-client-side': 'Argo CD, engine',
  'argo-server-side': 'Argo CD, engine, server-side diff',
}

/** As the syncer of the case: client-side if it applies client-side, otherwise server-side with its field manager. */
async function kubectlDiff(stage: CaseStage): Promise<ReadonlySet<string>> {
  const { tool, manager } = lastApplied(stage)
  const serverSide = [
    '--server-side',
    '--force-conflicts',
    `--field-manager=${manager ?? 'kubectl'}`,
  ]
  const flags = ['diff', ...(tool === 'kubectl-client-side' ? [] : serverSide), '--filename=-']
  const message = await kubectl(stage, flags, manifestsOf(stage, 'package'), {}, [0, 1])
  return objectsInDiff(message)
}

/** Objects of a `kubectl diff`. Each file is named `<group>.<version>.<Kind>.<namespace>.<name>`, without a group for the core. */
export function objectsInDiff(diff: string): Set<string> {
  return new Set(
    [...diff.matchAll(/^diff .*\/MERGED-\d+\/(\S+)$/gm)].map(([, file = '']) => {
      const [, kind = '', rest = ''] = /(?:^|\.)([A-Z][A-Za-z]*)\.(.*)$/.exec(file) ?? []
      return `${kind}/${rest.slice(rest.indexOf('.') + 1)}`
    }),
  )
}

function lastApplied({ one }: CaseStage): AppliedBy {
  return (
    one.steps.flatMap((step) => (step.do === 'apply' ? [step.applied] : [])).at(-1) ?? one.applied
  )
}

/**
 * It is slow, and its output for an existing object is the same with or without a difference. It
 * runs in cases with a missing or an unexpected object, in the cases that kpt applied, and in one
 * more case of each class.
 */
function isForKpt(one: DriftCase): boolean {
  const whole = one.truth.drift.some(({ path }) => path === '')
  if (whole || one.applied.tool.startsWith('kpt')) return true
  const observed = readByKpt.has(one.class)
  readByKpt.add(one.class)
  return !observed
}

const readByKpt = new Set<string>()

/** What it would create, delete, or fails to apply. It reports every existing object as "applied", with or without a difference. */
async function kptDryRun(stage: CaseStage): Promise<ReadonlySet<string>> {
  const inventory = `apiVersion: kpt.dev/v1alpha1\nkind: ResourceGroup\nmetadata:\n  name: bench\n  namespace: ${stage.namespace}\n  labels: {cli-utils.sigs.k8s.io/inventory-id: bench-${stage.namespace}}\n`
  const args = [
    'live',
    'apply',
    '-',
    '--dry-run',
    '--server-side',
    '--force-conflicts',
    '--inventory-policy=adopt',
    '--output=json',
  ]
  const child = spawn('kpt', [...args, `--kubeconfig=${stage.kubeconfig}`], {
    cwd: stage.folder,
    env: { PATH: process.env['PATH'], HOME: stage.folder, KUBECONFIG: stage.kubeconfig },
    signal: AbortSignal.timeout(60_000),
    killSignal: 'SIGKILL',
  })
  child.stdin.on('error', () => {}) // it ended without reading; its exit code says why
  child.stdin.end(`${inventory}---\n${manifestsOf(stage, 'package')}`)
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? -1))
  })
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  if (code !== 0) throw new Error(stderr.trim().slice(0, 300) || `it ended with ${code}`)
  return objectsInEvents(stdout)
}

/** Objects that the events of `kpt live apply` say are created, configured or pruned. */
export function objectsInEvents(lines: string): Set<string> {
  const named = new Set<string>()
  for (const line of lines.split('\n').filter((one) => one.startsWith('{'))) {
    const event: {
      type?: string
      kind?: string
      name?: string
      status?: string
      operation?: string
    } = JSON.parse(line)
    const changed = event.type === 'prune' || /created|configured/i.test(event.operation ?? '')
    if (
      changed &&
      event.kind !== undefined &&
      event.name !== undefined &&
      event.status !== 'Skipped'
    )
      named.add(`${event.kind}/${event.name}`)
  }
  return named
}

async function differ(
  appliers: Appliers,
  tool: DifferTool,
  stage: CaseStage,
): Promise<ReadonlySet<string>> {
  const family = tool.split('-')[0] ?? tool
  const { one, kubeconfig, namespace } = stage
  // Objects that another tool applied lack the marks of this one, which is no drift.
  const unmarked = !lastApplied(stage).tool.startsWith(family)
  const found = await appliers.diffWith(tool, {
    kubeconfig,
    namespace,
    manifests: manifestsOf(stage, 'package'),
    name: one.name,
    unmarked,
  })
  return new Set(found.map(({ object }) => `${object.kind}/${object.name}`))
}

function versionOf(program: string, args: readonly string[], pattern: RegExp): string | undefined {
  try {
    return pattern.exec(
      execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
    )?.[1]
  } catch {
    return undefined
  }
}
