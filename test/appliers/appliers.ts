/**
 * The tools that people apply packages with, as tests run them: `kubectl` and `kpt` from the `PATH`, and Helm 3, Helm 4, Flux's
 * and Argo CD's apply and diff as Go libraries in one small program (`test/programs/appliers`).
 */
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { ensureProgram, type FindOptions, type Unavailable } from '../programs/build-programs.ts'
import { hangLimit, retryWhile } from '../waiting/wait-until.ts'

/** A way to apply a package. */
export type ApplierTool =
  | 'kubectl-client-side'
  | 'kubectl-server-side'
  | 'kpt-client-side'
  | 'kpt-server-side'
  | 'helm3'
  | 'helm4'
  | 'helm4-client-side'
  | 'flux'
  | 'argo-client-side'
  | 'argo-server-side'

/** A tool that tells what its next apply would change. */
export type DifferTool = 'flux' | 'argo-client-side' | 'argo-server-side'

/** What to apply or to compare. */
export interface ApplierOrder {
  readonly kubeconfig: string
  /** Namespace of the release, of the inventory and of objects that name none. */
  readonly namespace: string
  /** YAML documents, as one text. */
  readonly manifests: string
  /** Name of the release, Kustomization, Application or inventory. Defaults to `shop`. Who applies again uses the same. */
  readonly name?: string
  /** Helm only: YAML documents of a chart that the chart depends on. */
  readonly subchart?: string
  /** Helm only, as `HELM_DRIVER`. Defaults to `secret`. */
  readonly driver?: 'secret' | 'configmap'
  /** Flux and Argo CD only: without the labels or the annotation that say whose object it is, to compare objects that another tool applied. */
  readonly unmarked?: boolean
}

/** What a tool did, object by object; `what` is the tool's own word for it. Empty for `kubectl` and `kpt`. */
export interface Applied {
  readonly objects: readonly { readonly object: ObjectName; readonly what: string }[]
}

/** One object of which the tool says that it differs from what is declared. */
export interface Difference {
  readonly object: ObjectName
  /** `created` where the object is not there. */
  readonly what: 'created' | 'modified'
}

export interface ObjectName {
  readonly apiVersion: string
  readonly kind: string
  /** Empty for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
}

/** The program is there. */
export interface Appliers {
  readonly state: 'ready'
  /** Applies, for the first time or again. Rejects with the tool's own words when it fails. */
  applyWith(tool: ApplierTool, order: ApplierOrder): Promise<Applied>
  /** The objects that the tool finds different. Writes nothing. Rejects with the tool's own words when it fails. */
  diffWith(tool: DifferTool, order: ApplierOrder): Promise<readonly Difference[]>
  /** `helm rollback`. The manifests of the order are not read. */
  rollBackWith(tool: HelmTool, order: ApplierOrder & { readonly revision: number }): Promise<void>
  /** `helm uninstall --keep-history`. The manifests of the order are not read. */
  uninstallWith(tool: HelmTool, order: ApplierOrder): Promise<void>
}

export type HelmTool = 'helm3' | 'helm4'

/** The program, built where it is not there (`ensureProgram`). `kubectl` and `kpt` are looked for when they are used. */
export async function findAppliers(options: FindOptions = {}): Promise<Appliers | Unavailable> {
  const found = await ensureProgram('appliers', options)
  return found.state === 'unavailable' ? found : appliers(found.path)
}

/** The name under which a tool's program runs: clients that name no field manager are known by it. */
const PROGRAM_NAMES: Readonly<Record<string, string>> = {
  helm3: 'helm',
  helm4: 'helm',
  'helm4-client-side': 'helm',
  flux: 'kustomize-controller',
  'argo-client-side': 'argocd-application-controller',
  'argo-server-side': 'argocd-application-controller',
}

function appliers(binary: string): Appliers {
  return {
    state: 'ready',
    applyWith: async (tool, order) => {
      switch (tool) {
        case 'kubectl-client-side':
          await kubectlApply(order, [])
          return { objects: [] }
        case 'kubectl-server-side':
          await kubectlApply(order, ['--server-side', '--force-conflicts'])
          return { objects: [] }
        case 'kpt-client-side':
          await kptApply(order, [])
          return { objects: [] }
        case 'kpt-server-side':
          await kptApply(order, ['--server-side', '--force-conflicts'])
          return { objects: [] }
        default:
          return { objects: await whileUnserved(() => own(binary, 'apply', tool, order)) }
      }
    },
    rollBackWith: async (tool, order) => void (await own(binary, 'rollback', tool, order)),
    uninstallWith: async (tool, order) => void (await own(binary, 'uninstall', tool, order)),
    diffWith: async (tool, order) =>
      (await own(binary, 'diff', tool, order)).map(({ object, what }) => ({
        object,
        what: what === 'created' ? what : 'modified',
      })),
  }
}

/** As people do who have definitions and their objects in one package: the definitions first. */
async function kubectlApply(order: ApplierOrder, flags: readonly string[]): Promise<void> {
  const documents = order.manifests.split(/^---$/m)
  const definitions = documents.filter((document) =>
    /^kind: CustomResourceDefinition$/m.test(document),
  )
  const target = targetOf(order)
  if (definitions.length > 0) {
    const input = definitions.join('---\n')
    await run('kubectl', ['apply', ...target, ...flags, '--filename=-'], input)
    await run(
      'kubectl',
      ['wait', ...target, '--for=condition=Established', '--timeout=4m', '--filename=-'],
      input,
    )
  }
  const others = documents.filter((document) => !definitions.includes(document))
  await whileUnserved(() =>
    run('kubectl', ['apply', ...target, ...flags, '--filename=-'], others.join('---\n')),
  )
}

/** Ends with 3 where something does not become ready in time: without nodes no Deployment ever does. */
const KPT_EXIT_CODES = [0, 3]

async function kptApply(order: ApplierOrder, flags: readonly string[]): Promise<void> {
  const args = [
    'live',
    'apply',
    '-',
    ...targetOf(order),
    '--install-resource-group',
    '--inventory-policy=adopt',
    '--reconcile-timeout=1s',
  ]
  const message = await run(
    'kpt',
    [...args, ...flags],
    `${inventoryOf(order)}---\n${order.manifests}`,
    { exitCodes: KPT_EXIT_CODES },
  )
  const [, attempted, successful] =
    /apply result: (\d+) attempted, (\d+) successful/.exec(message) ?? []
  if (attempted === undefined || attempted !== successful)
    throw new Error(`kpt live apply did not apply everything: ${message}`)
}

function targetOf({ kubeconfig, namespace }: ApplierOrder): string[] {
  return [`--kubeconfig=${kubeconfig}`, `--namespace=${namespace}`]
}

function inventoryOf({ namespace, name = DEFAULT_NAME }: ApplierOrder): string {
  return `apiVersion: kpt.dev/v1alpha1
kind: ResourceGroup
metadata:
  name: ${name}
  namespace: ${namespace}
  labels:
    cli-utils.sigs.k8s.io/inventory-id: ${namespace}-${name}
`
}

const DEFAULT_NAME = 'shop'

interface Answer {
  readonly object: ObjectName
  readonly what: string
}

async function own(
  binary: string,
  verb: string,
  tool: string,
  order: ApplierOrder,
): Promise<readonly Answer[]> {
  const input = JSON.stringify({ name: DEFAULT_NAME, ...order })
  return JSON.parse(
    await run(binary, [verb, tool], input, { argv0: PROGRAM_NAMES[tool] ?? tool }),
  ) as readonly Answer[]
}

/** Again while the server does not tell everybody yet of a kind that was just defined: Helm then refuses before it does anything. */
function whileUnserved<T>(apply: () => Promise<T>): Promise<T> {
  const isUnserved = (thrown: unknown): boolean =>
    thrown instanceof Error && thrown.message.includes('no matches for kind')
  return retryWhile('the server tells everybody of the new kinds', apply, isUnserved)
}

interface RunOptions {
  readonly argv0?: string
  /** Exit codes that are an answer. Defaults to 0 alone. */
  readonly exitCodes?: readonly number[]
}

/** @returns stdout */
async function run(
  program: string,
  args: readonly string[],
  input: string,
  options: RunOptions = {},
): Promise<string> {
  const { KUBECONFIG: _developersOwn, ...env } = process.env
  const argv0 = options.argv0 ?? program
  const child = spawn(program, args, {
    argv0,
    env,
    signal: hangLimit(`${argv0} ${args.join(' ')}`),
    killSignal: 'SIGKILL',
  })
  child.stdin.on('error', () => {}) // it ended without reading; its exit code says why
  child.stdin.end(input)
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', (error) =>
      reject(new Error(`cannot run ${argv0} ${args.join(' ')}`, { cause: error })),
    )
    child.on('close', (code) => resolve(code ?? -1))
  })
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  if (!(options.exitCodes ?? [0]).includes(code))
    throw new Error(`${argv0} ${args.join(' ')} ended with ${code}: ${stderr || stdout}`)
  return stdout
}
