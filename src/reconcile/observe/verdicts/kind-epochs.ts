/**
 * A dry-run answer holds while the server's version, the definitions of custom kinds, and who may
 * change or refuse an apply are unchanged (docs/adr/0057-the-controller-watches.md). Decisions
 * inside a webhook are not visible.
 */
import { hash } from 'node:crypto'
import type { WatchedKind } from '@backporch/cluster/cluster-watch'
import {
  formatJson,
  getPartAt,
  getTextAt,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { compareText } from '@backporch/kyaml/text'

const DEFINITIONS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
} as const
const ADMISSION_VERSION = 'admissionregistration.k8s.io/v1'
const ADMISSION = [
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
] as const

/** Without all of them, it is unknown whether an answer still holds. */
export const EPOCH_KINDS: readonly WatchedKind[] = [
  { ...DEFINITIONS, namespace: '', metadataOnly: false },
  ...ADMISSION.map((kind) => ({
    apiVersion: ADMISSION_VERSION,
    kind,
    namespace: '',
    metadataOnly: false,
  })),
]

interface FollowedKind {
  listed: boolean
  readonly parts: Map<string, string>
  /** The last complete list and the events after it; undefined before the first list. */
  before: ReadonlyMap<string, string> | undefined
}

export class KindEpochs {
  private readonly kinds = new Map<string, FollowedKind>(
    EPOCH_KINDS.map(({ kind }) => [kind, { listed: false, parts: new Map(), before: undefined }]),
  )
  private admission: string | undefined

  static isAbout({ apiVersion, kind }: Pick<WatchedKind, 'apiVersion' | 'kind'>): boolean {
    return EPOCH_KINDS.some((each) => each.kind === kind && each.apiVersion === apiVersion)
  }

  get known(): boolean {
    return [...this.kinds.values()].every(({ listed }) => listed)
  }

  /** Undefined while a part is unknown. */
  getEpoch(group: string, kind: string): string | undefined {
    if (!this.known) return undefined
    this.admission ??= JSON.stringify(
      ADMISSION.map((each) =>
        [...(this.kinds.get(each)?.parts ?? [])].sort(([left], [right]) =>
          compareText(left, right),
        ),
      ),
    )
    return `${this.getDefinitions().get(`${group}/${kind}`) ?? ''}\0${this.admission}`
  }

  /** @returns `group/Kind`; `*` for all kinds; undefined for none */
  handleChange(watched: WatchedKind, object: JsonObject): string | undefined {
    const part =
      watched.kind === DEFINITIONS.kind
        ? readDefinition(object)
        : { name: getTextAt(object, 'metadata', 'name'), text: digestAdmission(object) }
    const followed = this.kinds.get(watched.kind)
    if (followed === undefined || followed.parts.get(part.name) === part.text) return undefined
    const isNew = !followed.listed
    followed.parts.set(part.name, part.text)
    this.admission = undefined
    return isNew ? undefined : getAffected(watched, part.name)
  }

  handleDeletion(watched: WatchedKind, object: JsonObject): string | undefined {
    const name =
      watched.kind === DEFINITIONS.kind
        ? readDefinition(object).name
        : getTextAt(object, 'metadata', 'name')
    const followed = this.kinds.get(watched.kind)
    this.admission = undefined
    return followed?.parts.delete(name) === true && followed.listed
      ? getAffected(watched, name)
      : undefined
  }

  beginList({ kind }: WatchedKind): void {
    const followed = this.kinds.get(kind)
    if (followed === undefined) return
    if (followed.listed) followed.before = new Map(followed.parts)
    followed.listed = false
    followed.parts.clear()
    this.admission = undefined
  }

  /** @returns as `changed`, since the last complete list; nothing after the first one */
  finishList(watched: WatchedKind): readonly string[] {
    const followed = this.kinds.get(watched.kind)
    if (followed === undefined) return []
    const { parts, before = parts } = followed
    followed.listed = true
    followed.before = undefined
    const names = new Set([...before.keys(), ...parts.keys()])
    const changed = [...names].filter((name) => before.get(name) !== parts.get(name))
    return [...new Set(changed.map((name) => getAffected(watched, name)))]
  }

  handleUnreadable({ kind }: WatchedKind): void {
    const followed = this.kinds.get(kind)
    if (followed === undefined) return
    if (followed.listed) followed.before = new Map(followed.parts)
    followed.listed = false
  }

  private getDefinitions(): ReadonlyMap<string, string> {
    return this.kinds.get(DEFINITIONS.kind)?.parts ?? new Map()
  }
}

function getAffected({ kind }: WatchedKind, name: string): string {
  return kind === DEFINITIONS.kind ? name : '*'
}

/** Only the specification decides: status and metadata change with each condition. */
function readDefinition(object: JsonObject): { readonly name: string; readonly text: string } {
  const spec = getPartAt(object, 'spec')
  return {
    name: `${getTextAt(spec ?? null, 'group')}/${getTextAt(spec ?? null, 'names', 'kind')}`,
    text: computeDigest(formatJson(omitAuthority(spec ?? null))),
  }
}

function digestAdmission(object: JsonObject): string {
  const { status: _status, metadata, ...rest } = object
  return computeDigest(`${getTextAt(metadata ?? null, 'uid')} ${formatJson(omitAuthority(rest))}`)
}

/** Certificate authorities are renewed often, and decide no answer. */
function omitAuthority(value: Json): Json {
  if (isJsonArray(value)) return value.map(omitAuthority)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, part]) =>
      name === 'caBundle' ? [] : [[name, omitAuthority(part)]],
    ),
  )
}

function computeDigest(text: string): string {
  return hash('sha256', text).slice(0, 32)
}
