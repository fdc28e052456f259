/**
 * Imports the unmanaged objects of a namespace as a package. They are cleaned as for Adopt, and a
 * rendering verifies the package.
 */
import type { ClusterReader } from '@backporch/cluster/cluster'
import type { TreeFile } from '@backporch/git-store/package-repository'
import { convertToFailure, Failure, type FailureDetail } from '@backporch/kyaml/failure'
import {
  formatShownPath,
  isSecret,
  type RedactionKey,
  showWithHidden,
} from '@backporch/kyaml/redaction'
import { describeResourceId, getResourceKey, type ResourceId } from '@backporch/kyaml/resource'
import { createVisibility } from '../../drift/noise/visibility.ts'
import { deriveEffectivePolicy } from '../../policy/effective-policy.ts'
import type { NewPackage, NotImported } from '../../proposal/text/import-text.ts'
import { explainNotWhole } from '../../sources/edits/not-adopted.ts'
import type { PackageRenderer } from '../../sources/kpt/render/package-renderer.ts'
import { createObjectPackage } from '../../sources/place/object-package.ts'
import type { NewObject } from '../../sources/place/prove-placed.ts'
import { cleanObject } from '../observe/clean-object.ts'
import { readUnmanagedIn } from '../observe/observe-units.ts'
import { mapConcurrent } from '../repository/each-of.ts'
import type { RepositoryView } from '../repository/repository-view.ts'

/** Each object costs some dozens of dry runs. */
const MOST_OBJECTS = 200
const WIDTH = 4

interface ImportRequest {
  readonly namespace: string
  /** From the repository root. */
  readonly path: string
  readonly fieldManager: string | undefined
  readonly key: RedactionKey
  readonly renderer: PackageRenderer
}

/**
 * @throws Failure BP1001 if the folder is taken, BP1011 without anything to import, BP3012 if
 * declarations of packages are unknown, BP30xx if the namespace cannot be read
 */
export async function importNamespace(
  { view, reader }: { readonly view: RepositoryView; readonly reader: ClusterReader },
  request: ImportRequest,
  signal: AbortSignal,
): Promise<NewPackage> {
  const { namespace, path, renderer } = request
  assertFree(path, view.tree)
  const {
    objects: found,
    unread,
    unlisted,
  } = await readUnmanagedIn({ view, reader }, namespace, renderer, signal)
  const [problem] = unread
  if (problem !== undefined) throw createNotKnownFailure(namespace, problem)
  if (found.length > MOST_OBJECTS) throw createTooManyFailure(namespace, found.length)
  const results = await mapConcurrent(found, WIDTH, ({ id, apiVersion }) =>
    new Importing({ view, reader }, request, signal).importOne(id, apiVersion),
  )
  const objects = results.flatMap((result) => ('manifest' in result ? [result] : []))
  const notImported = [
    ...results.flatMap((result) => ('manifest' in result ? [] : [result])),
    // A kind whose server is down hides only its own objects.
    ...unlisted.map(({ what, why, remedy }) => ({ what, why, remedy })),
  ]
  if (objects.length === 0) throw createNothingFailure(namespace, notImported)
  return {
    namespace,
    cluster: reader.name,
    path,
    ...createObjectPackage(path, namespace, objects),
    notImported,
  }
}

type Imported = NewObject & { readonly unproven?: string | undefined }

class Importing {
  private readonly view: RepositoryView
  private readonly reader: ClusterReader
  private readonly request: ImportRequest
  private readonly signal: AbortSignal

  constructor(
    { view, reader }: { readonly view: RepositoryView; readonly reader: ClusterReader },
    request: ImportRequest,
    signal: AbortSignal,
  ) {
    this.view = view
    this.reader = reader
    this.request = request
    this.signal = signal
  }

  async importOne(id: ResourceId, apiVersion: string): Promise<Imported | NotImported> {
    try {
      return await this.read(id, apiVersion)
    } catch (thrown) {
      this.signal.throwIfAborted()
      return createNotImported(id, convertToFailure(thrown))
    }
  }

  private async read(id: ResourceId, apiVersion: string): Promise<Imported | NotImported> {
    const { reader, signal, request } = this
    const state = isSecret(id)
      ? undefined
      : (await reader.readLive([{ id, apiVersion }], signal)).get(getResourceKey(id))
    if (state?.state === 'unreadable') throw state.failure
    const live = state?.state === 'present' ? state.object : undefined
    const refused = explainNotWhole({
      id,
      live,
      liveUnread: state?.state === 'present' && state.metadataOnly,
    })
    if (refused !== undefined || live === undefined) return createNotImported(id, refused ?? GONE)
    const { schema } = await reader.findServedKind(apiVersion, id.kind, signal)
    const { visibility, presets } = deriveEffectivePolicy(
      this.view.policies,
      reader.name,
      request.path,
    )
    const ports = { reader, manager: request.fieldManager ?? 'kubectl', syncer: undefined, presets }
    const answer = await cleanObject({ id, apiVersion, object: live, schema }, ports, signal)
    if ('failure' in answer) return createNotImported(id, answer.failure)
    const { hidden } = showWithHidden(
      request.key,
      id,
      answer.manifest,
      createVisibility(id, schema, visibility),
    )
    const [first] = hidden
    if (first !== undefined)
      return createNotImported(id, createCredentialReason(formatShownPath(request.key, id, first)))
    return { id, live, ...answer }
  }
}

type Reason = Pick<FailureDetail, 'why' | 'remedy'>

const GONE: Reason = { why: 'it is gone', remedy: 'nothing: it was deleted meanwhile' }

function createCredentialReason(path: string): Reason {
  return {
    why: `it has a credential (${path})`,
    remedy: 'move it into a Secret that the object refers to',
  }
}

function createNotImported(id: ResourceId, { why, remedy }: Reason): NotImported {
  return { what: describeResourceId(id), why, remedy }
}

/** @throws Failure BP1001 */
function assertFree(path: string, tree: readonly TreeFile[]): void {
  const taken = tree.find((file) => file.path === path || file.path.startsWith(`${path}/`))
  const segments = path.split('/')
  const above = segments.map((_, index) => [...segments.slice(0, index), 'Kptfile'].join('/'))
  const outer = tree.find((file) => above.includes(file.path))
  if (taken === undefined && outer === undefined) return
  throw new Failure({
    code: 'BP1001',
    what: `${path} cannot be the new package`,
    where: (taken ?? outer)?.path ?? path,
    why:
      taken === undefined
        ? 'it would be part of the package above it'
        : 'the folder is in the repository already',
    remedy: 'name another folder with --to',
  })
}

function createNotKnownFailure(namespace: string, problem: string): Failure {
  return new Failure({
    code: 'BP3012',
    what: `cannot list unmanaged objects in the namespace ${namespace}`,
    why: problem,
    remedy:
      'correct or allow what is named (--allow-render kubectl builds kustomizations; a missing right is in the message), then import again',
    retry: 'on-change',
  })
}

function createTooManyFailure(namespace: string, count: number): Failure {
  return new Failure({
    code: 'BP1011',
    what: `the namespace ${namespace} has too many objects to import`,
    why: `${count} of its objects are unmanaged, and ${MOST_OBJECTS} is the limit`,
    remedy: 'write the package by hand, or delete unneeded objects',
  })
}

function createNothingFailure(namespace: string, notImported: readonly NotImported[]): Failure {
  const left = notImported.map(({ what, why }) => `${what}: ${why}`)
  return new Failure({
    code: 'BP1011',
    what: `the namespace ${namespace} has no objects to import`,
    why:
      left.length === 0
        ? 'every object there is managed or declared'
        : `${left.slice(0, 3).join('; ')}${left.length > 3 ? `; and ${left.length - 3} more` : ''}`,
    remedy:
      left.length === 0
        ? 'backporch diff --unmanaged lists unmanaged objects'
        : (notImported[0]?.remedy ?? ''),
  })
}
