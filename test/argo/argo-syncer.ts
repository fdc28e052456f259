/**
 * What Argo CD does with the Applications of a cluster, for tests: its own GenerateManifests makes the objects of their sources, gitops-engine
 * applies and compares them, and the Application gets the status that the application controller writes.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  filterObjects,
  filterTexts,
  getPartAt,
  getTextAt,
  isJsonObject,
  type JsonObject,
  parseJson,
} from '@backporch/kyaml/json'
import { getMetadataText } from '@backporch/kyaml/resource'
import { realClock } from '../apiserver/live-cluster.ts'
import type { ApplierOrder, Appliers } from '../appliers/appliers.ts'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { type FileTexts, NAMESPACE } from './argo-case.ts'
import type { ArgoPrograms } from './programs.ts'

/** A commit of the repository that all sources name. */
export interface ArgoCommit {
  readonly commit: string
  readonly files: FileTexts
}

export interface ArgoSyncerOptions {
  readonly plane: ControlPlane
  readonly appliers: Appliers
  readonly found: ArgoPrograms
  /** The newest commit of the branch. */
  readonly read: () => Promise<ArgoCommit>
}

/** `<kind> <namespace>/<name>` of objects that are not as the Application has them, by its name. */
export type OutOfSync = { readonly [application: string]: readonly string[] }

const MANAGER = 'argocd-application-controller'
const APPLICATIONS = `/apis/argoproj.io/v1alpha1/namespaces/${NAMESPACE}/applications`
const KEPT_REVISIONS = 10

interface Generated {
  readonly order: ApplierOrder
  readonly status: { readonly [field: string]: unknown }
  readonly objects: readonly JsonObject[]
  readonly commit: string
}

interface Discovered {
  readonly kubeVersion: string
  readonly apiVersions: readonly string[]
  readonly clusterScoped: readonly string[]
}

export class ArgoSyncer {
  private readonly options: ArgoSyncerOptions
  private readonly folder = mkdtempSync(join(tmpdir(), 'argo-syncer-'))

  constructor(options: ArgoSyncerOptions) {
    this.options = options
    // Argo CD runs them from the PATH.
    mkdirSync(join(this.folder, 'bin'))
    for (const name of ['helm', 'kustomize'] as const)
      symlinkSync(options.found.programs[name], join(this.folder, 'bin', name))
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Syncs an Application, then those that the cluster has besides it, in the order of their names. @returns the names */
  async syncFrom(root: string): Promise<readonly string[]> {
    await this.sync(root)
    const others = (await this.applications())
      .map((each) => getMetadataText(each, 'name'))
      .filter((name) => name !== root)
    for (const name of others.sort()) await this.sync(name)
    return [root, ...others]
  }

  /** `argocd app sync`. Rejects with Argo CD's own words where it fails. */
  async sync(name: string): Promise<void> {
    const application = await this.application(name)
    const generated = await this.generate(application)
    await this.options.appliers.applyWith('argo-server-side', generated.order)
    await this.report(application, generated, true)
  }

  /** `argocd app get --refresh` of every Application. */
  async refresh(): Promise<OutOfSync> {
    const found: { [application: string]: readonly string[] } = {}
    for (const application of await this.applications()) {
      const different = await this.report(application, await this.generate(application), false)
      if (different.length > 0) found[getMetadataText(application, 'name')] = different
    }
    return found
  }

  private async applications(): Promise<readonly JsonObject[]> {
    const { body } = await this.options.plane.request<JsonObject>('GET', APPLICATIONS)
    return filterObjects(body['items'])
  }

  private async application(name: string): Promise<JsonObject> {
    const { status, body } = await this.options.plane.request<JsonObject>(
      'GET',
      `${APPLICATIONS}/${name}`,
    )
    if (status !== 200) throw new Error(`Application ${name} answers ${status}`)
    return body
  }

  private async generate(application: JsonObject): Promise<Generated> {
    const { plane, found, read } = this.options
    const [{ commit, files }, discovered] = await Promise.all([read(), discover(plane)])
    const question = {
      ...{ files, links: {}, others: {}, application, namespace: NAMESPACE, ...discovered },
      // As a new installation of Argo CD 3 has them.
      ...{ trackingMethod: 'annotation', appLabelKey: 'app.kubernetes.io/instance' },
    }
    const env = {
      PATH: `${join(this.folder, 'bin')}:/usr/bin:/bin`,
      HOME: this.folder,
      TMPDIR: this.folder,
    }
    const name = getMetadataText(application, 'name')
    const answer = parseJson(await answered(found.programs.generate, JSON.stringify(question), env))
    if (!isJsonObject(answer) || getTextAt(answer, 'error') !== '')
      throw new Error(`Argo CD generates nothing of ${name}: ${getTextAt(answer, 'error')}`)
    const warnings = filterTexts(answer['warnings'])
    if (warnings.length > 0) throw new Error(`Argo CD warns of ${name}: ${warnings.join('; ')}`)
    const objects = filterObjects(answer['objects'])
    const types = filterObjects(answer['sources']).map((source) =>
      getTextAt(source, 'type').replace(/^none$/, ''),
    )
    const order = {
      kubeconfig: plane.kubeconfig,
      namespace: getTextAt(application, 'spec', 'destination', 'namespace'),
      name,
      manifests: objects.map((object) => JSON.stringify(object)).join('\n---\n'),
      // The generation has marked them.
      unmarked: true,
    }
    return {
      order,
      status: isMany(application) ? { sourceTypes: types } : { sourceType: types[0] },
      objects,
      commit,
    }
  }

  /** What persistAppStatus and persistRevisionHistory of the application controller write. @returns the objects that are different */
  private async report(
    application: JsonObject,
    { order, status, objects, commit }: Generated,
    isSynced: boolean,
  ): Promise<string[]> {
    const different = (await this.options.appliers.diffWith('argo-server-side', order)).map(
      ({ object }) => titleOf(object),
    )
    const now = realClock.now().toISOString()
    const sources = filterObjects(getPartAt(application, 'spec', 'sources'))
    const revision =
      sources.length > 0 ? { revisions: sources.map(() => commit) } : { revision: commit }
    const source =
      sources.length > 0 ? { sources } : { source: getPartAt(application, 'spec', 'source') }
    const before = filterObjects(getPartAt(application, 'status', 'history'))
    const id = Number(before.at(-1)?.['id'] ?? -1) + 1
    const synced = {
      id,
      deployStartedAt: now,
      deployedAt: now,
      initiatedBy: {},
      ...revision,
      ...source,
    }
    const body = {
      status: {
        ...status,
        reconciledAt: now,
        sync: { status: different.length === 0 ? 'Synced' : 'OutOfSync', ...revision },
        resources: objects.map((object) => {
          const [namespace, name, kind] = [
            getMetadataText(object, 'namespace'),
            getMetadataText(object, 'name'),
            getTextAt(object, 'kind'),
          ]
          const [, group = '', version] =
            /^(?:(.*)\/)?(.*)$/.exec(getTextAt(object, 'apiVersion')) ?? []
          const isDifferent = different.includes(titleOf({ kind, namespace, name }))
          return {
            ...{ group, version, kind, namespace, name },
            status: isDifferent ? 'OutOfSync' : 'Synced',
          }
        }),
        ...(isSynced
          ? {
              history: [...before, synced].slice(-KEPT_REVISIONS),
              operationState: {
                phase: 'Succeeded',
                startedAt: now,
                finishedAt: now,
                operation: { sync: revision },
                syncResult: revision,
              },
            }
          : {}),
      },
    }
    const path = `${APPLICATIONS}/${order.name}?fieldManager=${MANAGER}`
    const answer = await this.options.plane.request('PATCH', path, {
      contentType: 'application/merge-patch+json',
      body,
    })
    if (answer.status !== 200) throw new Error(`Application ${order.name} answers ${answer.status}`)
    return different.sort()
  }
}

function isMany(application: JsonObject): boolean {
  return filterObjects(getPartAt(application, 'spec', 'sources')).length > 0
}

function titleOf({
  kind,
  namespace,
  name,
}: {
  readonly kind: string
  readonly namespace: string
  readonly name: string
}): string {
  return `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`
}

/** What Argo CD asks a cluster for before it generates. */
async function discover(plane: ControlPlane): Promise<Discovered> {
  const get = async (path: string): Promise<JsonObject> =>
    (await plane.request<JsonObject>('GET', path)).body
  const groups = filterObjects((await get('/apis'))['groups'])
  const served = groups.flatMap((group) =>
    filterObjects(group['versions']).map((version) => getTextAt(version, 'groupVersion')),
  )
  const lists = await Promise.all(
    ['v1', ...served].map(
      async (each) => [each, await get(each === 'v1' ? '/api/v1' : `/apis/${each}`)] as const,
    ),
  )
  const kinds = lists.flatMap(([apiVersion, list]) =>
    filterObjects(list['resources'])
      .filter((resource) => !getTextAt(resource, 'name').includes('/'))
      .map((resource) => ({
        apiVersion,
        kind: getTextAt(resource, 'kind'),
        isNamespaced: resource['namespaced'] === true,
      })),
  )
  return {
    kubeVersion: getTextAt(await get('/version'), 'gitVersion'),
    apiVersions: [
      ...new Set(kinds.flatMap(({ apiVersion, kind }) => [apiVersion, `${apiVersion}/${kind}`])),
    ].sort(),
    clusterScoped: kinds
      .filter(({ isNamespaced }) => !isNamespaced)
      .map(
        ({ apiVersion, kind }) =>
          `${apiVersion.includes('/') ? apiVersion.replace(/\/.*/, '') : ''}/${kind}`,
      ),
  }
}

/** @returns its standard output */
function answered(program: string, question: string, env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, [], { env, maxBuffer: 1 << 26 }, (error, stdout, stderr) =>
      error === null
        ? resolve(stdout)
        : reject(new Error(`the generation ended: ${stderr.slice(-2_000)}`, { cause: error })),
    )
    child.stdin?.end(question)
  })
}
