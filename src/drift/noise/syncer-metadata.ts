/**
 * Labels and annotations that a syncer or its tool writes on what it applies. What the syncer itself owns never comes as a difference;
 * these rules are for tools that write them under another name, and for objects that a tool had before.
 * Sources: docs/facts/applier-marks.md and the files that it names; kapp `pkg/kapp/config/default.go`; cli-utils `pkg/common`,
 * `pkg/object/{dependson,mutation}`; kpt-config-sync `pkg/metadata`; kubectl `pkg/cmd/apply/apply.go`.
 */
import { isJsonObject, type Json, parseJson } from '../../text/json.ts'
import { MARKING_TOOLS, toolsOfMark } from '../attribute/syncer-marks.ts'
import type { Drift } from '../drift.ts'
import {
  fromSyncer,
  isLive,
  isPerson,
  type Judgement,
  metadataKey,
  muted,
  type NoiseRule,
  type Surroundings,
  shown,
  writerOf,
  writtenBy,
} from './noise-rule.ts'
import { textAt } from './object-part.ts'

const WRITERS = MARKING_TOOLS.map(({ writers }) => writers)

function judgeMetadata(drift: Drift, { syncer }: Surroundings): Judgement | undefined {
  if (!isLive(drift)) return undefined
  const tools = toolsOfMark(drift.path, drift.live)
  const [first] = tools
  if (first === undefined) return undefined
  const tool = isPerson(drift) ? undefined : tools.find(({ writers }) => writtenBy(drift, writers))
  if (tool !== undefined) return muted(`${tool.name} marks with it what it applies`)
  // A tool may apply under any name that it is given (kpt live apply --field-manager): then it is muted where people can see it.
  if (fromSyncer(drift, syncer)) return muted(`the syncer ${drift.actor.manager} marks with it what it applies`)
  return shown(`${writerOf(drift)} wrote it, and not ${tools.map(({ name }) => name).join(' or ')}`)
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
/** Verbs of kubectl that write it, and tools that apply as kubectl does. `kubectl-last-applied` keeps it for server-side applies. */
const KEEPS_LAST_APPLIED =
  /^(kubectl|kubectl-(client-side-apply|last-applied|create|replace|run|expose)|oc|argocd|argocd-(?!server).*|kpt.*|kapp.*|kluctl.*|fleet.*|addon-controller)$/

function judgeLastApplied(drift: Drift, { syncer }: Surroundings): Judgement | undefined {
  if (!isLive(drift) || metadataKey(drift, 'annotations') !== LAST_APPLIED) return undefined
  if (!writtenBy(drift, KEEPS_LAST_APPLIED) && !fromSyncer(drift, syncer))
    return shown(`${writerOf(drift)} wrote it, which is no tool that applies`)
  if (!isAppliedAs(drift)) return shown('it does not hold this object as somebody applied it')
  return muted('client-side apply keeps in it what was applied; what it changed is shown by itself')
}

/** Unread content of a Secret is not looked into: the annotation is there by name only. */
function isAppliedAs({ live, liveUnread, id }: Drift): boolean {
  if (liveUnread && live === undefined) return true
  const applied = parsed(live)
  return isJsonObject(applied) && textAt(applied, 'kind') === id.kind && textAt(applied, 'metadata', 'name') === id.name
}

function parsed(value: Json | undefined): Json | undefined {
  try {
    return typeof value === 'string' ? parseJson(value) : undefined
  } catch {
    return undefined
  }
}

/** Annotations that tell an applier what to do and the cluster nothing. */
const DIRECTIVES = new Map([
  ['config.kubernetes.io/depends-on', 'depends-on'],
  ['config.kubernetes.io/apply-time-mutation', 'depends-on'],
  ['client.lifecycle.config.k8s.io/deletion', 'client-lifecycle'],
  ['client.lifecycle.config.k8s.io/mutation', 'client-lifecycle'],
  ['cli-utils.sigs.k8s.io/on-remove', 'client-lifecycle'],
])

/** By a person they are drift: `mutation: ignore` set by hand turns the syncer off for the object. */
function judgeDirective(drift: Drift, { syncer }: Surroundings, rule: string): Judgement | undefined {
  if (!isLive(drift) || DIRECTIVES.get(metadataKey(drift, 'annotations') ?? '') !== rule) return undefined
  if (fromSyncer(drift, syncer)) return muted(`the syncer ${drift.actor.manager} keeps with it how it applies`)
  return !isPerson(drift) && WRITERS.some((writers) => writtenBy(drift, writers))
    ? muted(`${writerOf(drift)} keeps with it how it applies`)
    : shown(`${writerOf(drift)} wrote it, which is no syncer that is known`)
}

export const SYNCER_METADATA_RULES: readonly NoiseRule[] = [
  {
    name: 'syncer-metadata',
    reason: 'A syncer marks the objects that it applies.',
    mutes:
      'the inventory, tracking and release marks of Flux, Argo CD, Helm, Config Sync, kpt live, Sveltos, Fleet, kapp and Kluctl that the tool itself wrote; a mark that a person wrote is shown.',
    link: 'https://kubernetes.io/docs/reference/labels-annotations-taints/',
    judge: judgeMetadata,
  },
  {
    name: 'kubectl-last-applied',
    reason: 'Client-side apply keeps in an annotation what was applied.',
    mutes: 'the annotation with this very object in it, written by a tool that applies; the changes that came with it are shown.',
    link: 'https://kubernetes.io/docs/tasks/manage-kubernetes-objects/declarative-config/',
    judge: judgeLastApplied,
  },
  {
    name: 'depends-on',
    reason: 'Annotations of kpt and Config Sync say in which order and with which values objects are applied.',
    mutes: 'depends-on and apply-time-mutation that the syncer wrote; one that a person wrote is shown.',
    link: 'https://kpt.dev/reference/annotations/depends-on/',
    judge: (drift, surroundings) => judgeDirective(drift, surroundings, 'depends-on'),
  },
  {
    name: 'client-lifecycle',
    reason: 'Annotations of kpt and Config Sync say what happens to an object that git gives up or that others change.',
    mutes: 'client.lifecycle.config.k8s.io/* that the syncer wrote; one that a person wrote turns the syncer off and is shown.',
    link: 'https://cloud.google.com/kubernetes-engine/enterprise/config-sync/docs/how-to/managing-objects',
    judge: (drift, surroundings) => judgeDirective(drift, surroundings, 'client-lifecycle'),
  },
]
