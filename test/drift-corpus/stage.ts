/** A case on a real control plane: its namespace, its set-up, the package applied by its tool, and what was done then. */
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Appliers, ApplierTool } from '../appliers/appliers.ts'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { startControlPlane } from '../controlplane/start-control-plane.ts'
import { boundCommand } from '../processes/bound-command.ts'
import type { Unavailable } from '../programs/build-programs.ts'
import { nextSecond } from '../waiting/next-second.ts'
import { hangLimit, waitSteady, waitUntil } from '../waiting/wait-until.ts'
import { type AppliedBy, CORPUS, type DriftCase, filesBelow, type Step } from './case.ts'

export interface CaseStage {
  readonly plane: ControlPlane
  readonly one: DriftCase
  /** Of the case; namespaced objects without a namespace go here. */
  readonly namespace: string
  /** Path of a kubeconfig whose context names the namespace. */
  readonly kubeconfig: string
  /** A copy of the case's folder. */
  readonly folder: string
  /** RFC 3339 UTC, as `CaseTimes`. */
  readonly appliedAt: string
  readonly movedAt: string
  /** Removes the folder; the plane is thrown away whole. */
  close(): void
}

/** A plane for cases: with controllers, and with what some of them need switched on. */
export async function startCorpusPlane(report: (line: string) => void): Promise<ControlPlane> {
  const plane = await startControlPlane({
    controllerManager: true,
    apiServerFlags: [
      '--feature-gates=MutatingAdmissionPolicy=true',
      '--runtime-config=admissionregistration.k8s.io/v1beta1=true',
    ],
    report,
  })
  if (plane.state === 'unavailable') throw new Error(plane.why)
  await installKinds(plane)
  return plane
}

/** Kinds that the cases use, from `_server/kinds`. */
async function installKinds(plane: ControlPlane): Promise<void> {
  const folder = join(CORPUS, '_server', 'kinds')
  await plane.kubectl(['apply', '--server-side', '--filename', folder])
  await plane.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=4m'])
}

/**
 * Does all that the case says, and waits until the controllers are done.
 * @throws Error of the first step that fails; of a tool that cannot run here, `ToolNotRun`
 */
export async function stageCase(
  plane: ControlPlane,
  one: DriftCase,
  appliers: Appliers | Unavailable,
): Promise<CaseStage> {
  const folder = mkdtempSync(join(tmpdir(), 'drift-corpus-'))
  const stage = {
    appliedAt: timeOf(new Date()),
    movedAt: '',
    plane,
    one,
    namespace: one.name,
    kubeconfig: join(folder, 'case.kubeconfig'),
    folder,
    close: () => rmSync(folder, { recursive: true }),
  }
  try {
    cpSync(one.folder, folder, { recursive: true })
    writeFileSync(stage.kubeconfig, kubeconfigFor(plane, one.name))
    await createNamespace(plane, one.name)
    if (existsSync(join(folder, 'setup'))) {
      await kubectl(stage, [
        'apply',
        '--server-side',
        '--field-manager=setup',
        '--filename=setup',
        '--recursive',
      ])
      // An admission policy is in force a moment after it is there.
      await sleep(POLICY_MS)
    }
    stage.appliedAt = timeOf(new Date())
    await applyPackage(stage, one.applied, appliers)
    await settled(stage)
    for (const step of one.steps) {
      await nextSecond()
      await take(stage, step, appliers)
      if (step.do === 'apply') await settled(stage)
    }
    if (one.steps.length > 0) await settled(stage)
    stage.movedAt = timeOf(new Date())
    return stage
  } catch (thrown) {
    stage.close()
    throw thrown
  }
}

/** The tool that applies the package cannot be run on this machine. */
export class ToolNotRun extends Error {}

async function applyPackage(
  stage: CaseStage,
  { tool, manager, from }: AppliedBy,
  appliers: Appliers | Unavailable,
): Promise<void> {
  const stdin = manifestsOf(stage, from)
  if (tool === 'kubectl-server-side') {
    await kubectl(
      stage,
      [
        'apply',
        '--server-side',
        '--force-conflicts',
        `--field-manager=${manager ?? 'kubectl'}`,
        '--filename=-',
      ],
      stdin,
    )
    return
  }
  if (tool === 'kubectl-client-side') {
    await kubectl(
      stage,
      ['apply', ...(manager === undefined ? [] : [`--field-manager=${manager}`]), '--filename=-'],
      stdin,
    )
    return
  }
  if (appliers.state === 'unavailable') throw new ToolNotRun(appliers.why)
  const { kubeconfig, namespace } = stage
  await appliers.applyWith(toolOf(tool), {
    kubeconfig,
    namespace,
    manifests: stdin,
    name: stage.one.name,
  })
}

const TOOLS: readonly ApplierTool[] = [
  'kpt-client-side',
  'kpt-server-side',
  'helm3',
  'helm4',
  'helm4-client-side',
  'flux',
  'argo-client-side',
  'argo-server-side',
]

function toolOf(name: string): ApplierTool {
  const tool = TOOLS.find((one) => one === name)
  if (tool === undefined) throw new Error(`no tool is called ${name}`)
  return tool
}

/** The manifests of a version of the package, as one text. What `kpt live` keeps for itself is not applied. */
export function manifestsOf({ folder }: Pick<CaseStage, 'folder'>, from: string): string {
  const files = Object.entries(filesBelow(join(folder, from)))
  return files
    .filter(
      ([path, text]) =>
        /\.ya?ml$/.test(path) &&
        path !== 'resourcegroup.yaml' &&
        !text.includes('config.kubernetes.io/local-config'),
    )
    .map(([, text]) => text.trimEnd())
    .join('\n---\n')
    .concat('\n')
}

async function take(stage: CaseStage, step: Step, appliers: Appliers | Unavailable): Promise<void> {
  if (step.do === 'kubectl') await kubectl(stage, step.args, step.stdin)
  else if (step.do === 'edit') {
    const script = join(stage.folder, 'replace.sed')
    writeFileSync(script, `s|${step.from}|${step.to}|\n`)
    await kubectl(stage, ['edit', step.object], undefined, { KUBE_EDITOR: `sed -i -f ${script}` })
  } else if (step.do === 'apply') await applyPackage(stage, step.applied, appliers)
  else {
    const contentType = TYPES[step.type] ?? step.type
    const options = step.body === undefined ? {} : { body: step.body, contentType }
    const { status, body } = await stage.plane.request(step.method, step.path, options)
    if (status >= 300)
      throw new Error(`${step.method} ${step.path} answered ${status}: ${JSON.stringify(body)}`)
  }
}

function timeOf(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`
}

const TYPES: Readonly<Record<string, string>> = {
  json: 'application/json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  'json-patch': 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
}

const POLICY_MS = 2_500

/** Until nothing of the namespace is written any more. */
async function settled({ plane, namespace }: CaseStage): Promise<void> {
  await waitSteady(`the controllers are done with ${namespace}`, () => versionsIn(plane, namespace))
}

const WATCHED = [
  'apis/apps/v1/namespaces/NS/deployments',
  'apis/apps/v1/namespaces/NS/statefulsets',
  'apis/apps/v1/namespaces/NS/daemonsets',
  'apis/batch/v1/namespaces/NS/cronjobs',
  'apis/batch/v1/namespaces/NS/jobs',
  'apis/autoscaling/v2/namespaces/NS/horizontalpodautoscalers',
  'apis/policy/v1/namespaces/NS/poddisruptionbudgets',
  'api/v1/namespaces/NS/persistentvolumeclaims',
]

async function versionsIn(plane: ControlPlane, namespace: string): Promise<string> {
  const lists = await Promise.all(
    WATCHED.map(async (path) => {
      const { body } = await plane.request<{ items?: { metadata: { resourceVersion: string } }[] }>(
        'GET',
        `/${path.replace('NS', namespace)}`,
      )
      return (body.items ?? []).map(({ metadata }) => metadata.resourceVersion).join(' ')
    }),
  )
  return lists.join('|')
}

function kubeconfigFor({ kubeconfig }: ControlPlane, namespace: string): string {
  const config = JSON.parse(readFileSync(kubeconfig, 'utf8'))
  config.contexts[0].context.namespace = namespace
  return JSON.stringify(config)
}

async function createNamespace(plane: ControlPlane, name: string): Promise<void> {
  const { status, body } = await plane.request('POST', '/api/v1/namespaces', {
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
  })
  if (status !== 201) throw new Error(`cannot create namespace ${name}: ${JSON.stringify(body)}`)
  const account = `/api/v1/namespaces/${name}/serviceaccounts/default`
  await waitUntil(
    `${account} exists`,
    async () => (await plane.request('GET', account)).status === 200,
  )
}

/** kubectl in the folder and the namespace of the case. @returns stdout @throws Error with what it said */
export async function kubectl(
  { kubeconfig, folder }: Pick<CaseStage, 'kubeconfig' | 'folder'>,
  args: readonly string[],
  stdin?: string,
  environment: Readonly<Record<string, string>> = {},
  exitCodes: readonly number[] = [0],
): Promise<string> {
  const env = {
    PATH: process.env['PATH'],
    HOME: join(tmpdir(), 'drift-corpus-home'),
    KUBECONFIG: kubeconfig,
    ...environment,
  }
  const child = spawn(...boundCommand('kubectl', args), {
    cwd: folder,
    env,
    signal: hangLimit(`kubectl ${args.join(' ')}`),
    killSignal: 'SIGKILL',
  })
  child.stdin.on('error', () => {}) // it ended without reading; its exit code says why
  child.stdin.end(stdin ?? '')
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? -1))
  })
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  if (!exitCodes.includes(code))
    throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${stderr || stdout}`)
  return stdout
}
