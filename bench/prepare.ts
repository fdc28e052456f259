/** A real API server with the generated objects applied, and a repository that declares them. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ControlPlane } from '../test/controlplane/control-plane.ts'
import type { HandEdit } from './edits.ts'
import {
  type BenchObject,
  type BenchPackage,
  generate,
  repositoryFiles,
  WIDGET_DEFINITION,
  WIDGETS,
} from './generate.ts'

/** Field manager that applies the objects, and with which every tool compares. */
export const SYNCER = 'bench'

export interface Bench {
  readonly plane: ControlPlane
  readonly packages: readonly BenchPackage[]
  /** All files are written below it. */
  readonly folder: string
  /** Checkout of the repository, all committed. */
  readonly repository: string
}

export interface BenchOptions {
  readonly objects: number
  readonly objectsPerPackage: number
  readonly seed: number
}

export async function prepareBench(plane: ControlPlane, options: BenchOptions): Promise<Bench> {
  const packages = generate(options)
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'backporch-bench-')))
  const repository = join(folder, 'fleet')
  for (const [path, text] of Object.entries(repositoryFiles(packages))) {
    const file = join(repository, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  const git = (...args: readonly string[]): void => {
    execFileSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@example.com', ...args], {
      cwd: repository,
      stdio: 'pipe',
    })
  }
  git('init', '--quiet', '--initial-branch=main')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'feat: generated packages')
  await applyAll(plane, packages)
  return { plane, packages, folder, repository }
}

const WIDTH = 8

/** Applies the objects as the syncer, with the kinds and namespaces that they need, once per API server. */
export async function applyAll(
  plane: ControlPlane,
  packages: readonly BenchPackage[],
): Promise<void> {
  await send(
    plane,
    'POST',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    WIDGET_DEFINITION,
  )
  await send(
    plane,
    'POST',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    RESOURCE_GROUP_DEFINITION,
  )
  for (const { namespace } of packages)
    await send(plane, 'POST', '/api/v1/namespaces', { metadata: { name: namespace } })
  await untilServed(plane, `/apis/${WIDGETS.group}/${WIDGETS.version}/${WIDGETS.plural}`)
  await untilServed(plane, '/apis/kpt.dev/v1alpha1/resourcegroups')
  const waiting = packages.flatMap(({ objects }) => objects).values()
  const worker = async (): Promise<void> => {
    for (const object of waiting) {
      await send(
        plane,
        'PATCH',
        `${pathOf(object)}?fieldManager=${SYNCER}&force=true`,
        object,
        'application/apply-patch+yaml',
      )
    }
  }
  await Promise.all(Array.from({ length: WIDTH }, worker))
}

/** Makes every edit of the list, with its field manager. */
export async function injectEdits(plane: ControlPlane, edits: readonly HandEdit[]): Promise<void> {
  for (const { object, subresource, manager, patch } of edits) {
    const path = pathOf(object) + (subresource === '' ? '' : `/${subresource}`)
    const type =
      subresource === '' ? 'application/strategic-merge-patch+json' : 'application/merge-patch+json'
    await send(plane, 'PATCH', `${path}?fieldManager=${manager}`, patch, type)
  }
}

async function send(
  plane: ControlPlane,
  method: string,
  path: string,
  body: unknown,
  contentType?: string,
): Promise<void> {
  const { status, body: answer } = await plane.request(method, path, {
    body,
    ...(contentType !== undefined && { contentType }),
  })
  if (status >= 300)
    throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(answer)}`)
}

async function untilServed(plane: ControlPlane, path: string): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if ((await plane.request('GET', path)).status === 200) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${path} is not served`)
}

const PLURALS: Readonly<Record<string, string>> = {
  ConfigMap: 'configmaps',
  Deployment: 'deployments',
  Secret: 'secrets',
  Service: 'services',
  ServiceAccount: 'serviceaccounts',
  [WIDGETS.kind]: WIDGETS.plural,
}

/** Of the object, below the address of the API server. */
export function pathOf({ apiVersion, kind, metadata: { name, namespace } }: BenchObject): string {
  return `${apiVersion.includes('/') ? '/apis' : '/api'}/${apiVersion}/namespaces/${namespace}/${PLURALS[kind] ?? ''}/${name}`
}

/** kpt requires the kind of its inventory. */
const RESOURCE_GROUP_DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'resourcegroups.kpt.dev' },
  spec: {
    group: 'kpt.dev',
    scope: 'Namespaced',
    names: {
      kind: 'ResourceGroup',
      listKind: 'ResourceGroupList',
      plural: 'resourcegroups',
      singular: 'resourcegroup',
    },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
}
