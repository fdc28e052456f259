/** What Backporch says of a case: the code that `diff` runs, over a repository in memory and any cluster. */
import type { ClusterReader } from '@backporch/cluster/cluster'
import { LocalForge } from '@backporch/forge/local-forge'
import { formatFieldPath } from '@backporch/kyaml/field'
import { createRedactionKey } from '@backporch/kyaml/redaction'
import type { ResourceId } from '@backporch/kyaml/resource'
import type { Drift } from '../../src/drift/compare/drift.ts'
import type { Observation } from '../../src/plan/observation/observation.ts'
import { observeCluster, observeRepository } from '../../src/reconcile/observe/observe-units.ts'
import { realClock } from '../apiserver/live-cluster.ts'
import { InProcessRenderer } from '../fakes/in-process-renderer.ts'
import { BOT_EMAIL, MemoryRepository } from '../fakes/memory-repository.ts'
import { turnRequest } from '../fakes/turn-request.ts'
import {
  type DriftCase,
  type ExpectedChange,
  type ExpectedSetAside,
  earlierVersions,
  filesBelow,
  packageFiles,
  type Truth,
} from './case.ts'

const KEY = createRedactionKey(new Uint8Array(32).fill(7))

/** When the package was applied for the first time, and when all that was done to it was done: RFC 3339 UTC. */
export interface CaseTimes {
  readonly appliedAt: string
  readonly movedAt: string
}

/**
 * The package with its history, each version a commit on `main`; `policy.yaml` of the case is its drift policy. A version that was never
 * applied came when everything else was done: git moved, and nothing else.
 */
export function repositoryOf(one: DriftCase, { appliedAt, movedAt }: CaseTimes): MemoryRepository {
  const repository = new MemoryRepository()
  let known: string[] = []
  const applied = [
    one.applied,
    ...one.steps.flatMap((step) => (step.do === 'apply' ? [step.applied] : [])),
  ].map(({ from }) => from)
  const versions = [...earlierVersions(one), 'package']
  for (const [index, version] of versions.entries()) {
    const at =
      Date.parse(applied.includes(version) ? appliedAt : movedAt) / 1000 -
      (versions.length - index) * (applied.includes(version) ? 3600 : 0)
    const files = Object.fromEntries(
      Object.entries(packageFiles(one, version)).map(([path, text]) => [
        `apps/${one.name}/${path}`,
        text,
      ]),
    )
    const gone = known.filter((path) => !Object.hasOwn(files, path)).map((path) => [path, null])
    repository.commitByHand('main', { ...files, ...Object.fromEntries(gone) }, { at })
    known = Object.keys(files)
  }
  const policy = filesBelow(one.folder)['policy.yaml']
  if (policy !== undefined) repository.commitByHand('main', { '.drift/policy.yaml': policy })
  return repository
}

/** @throws what the package failed with */
export async function observeCase(
  one: DriftCase,
  times: CaseTimes,
  cluster: ClusterReader,
): Promise<Observation> {
  const repository = repositoryOf(one, times)
  const request = turnRequest({
    key: KEY,
    bot: { email: BOT_EMAIL },
    clock: realClock,
    renderer: new InProcessRenderer(),
  })
  const signal = new AbortController().signal
  const view = await observeRepository(
    { repository, forge: new LocalForge(repository) },
    request,
    signal,
  )
  const { units } = await observeCluster(view, cluster, request, signal)
  const [unit, ...more] = units
  if (unit === undefined || more.length > 0)
    throw new Error(`${one.name}: ${units.length} packages were observed`)
  if (unit.state === 'failed') throw unit.failures[0] ?? new Error(`${one.name}: failed`)
  return unit.observation
}

/** What was seen, in the words of `case.yaml`; its lists in an order of their own. */
export function observedIn({ verdicts }: Observation): Truth {
  const drift = verdicts.flatMap(({ items }) => items.map(changeOf))
  const setAside = verdicts.flatMap((verdict) =>
    verdict.setAside.map(({ drift: one, state, rule }) => ({
      object: nameOf(one.id),
      path: formatFieldPath(one.path),
      state,
      rule,
    })),
  )
  const unproven = verdicts.filter(
    ({ failure, state }) => failure !== undefined && state !== 'in-sync',
  )
  return {
    drift: sorted(drift),
    setAside: sorted(setAside),
    unproven: Object.fromEntries(
      unproven
        .filter(({ reapplyFails }) => reapplyFails === undefined)
        .map(({ id, state }) => [
          nameOf(id),
          state === 'unreadable' || state === 'blocked' ? state : 'unverified',
        ]),
    ),
    applyRefused: verdicts
      .flatMap(({ id, reapplyFails }) => (reapplyFails === undefined ? [] : [nameOf(id)]))
      .sort(),
  }
}

/** Every place where what was seen is not the truth, as a sentence; empty where all is right. */
export function mistakes(observed: Truth, truth: Truth): string[] {
  return [
    ...compared('drift', observed.drift.map(lineOf), truth.drift.map(lineOf)),
    ...(truth.setAside === undefined
      ? []
      : compared(
          'set aside',
          (observed.setAside ?? []).map(asideOf(truth.setAside)),
          truth.setAside.map(asideOf(truth.setAside)),
        )),
    ...compared('unproven', linesOf(observed.unproven), linesOf(truth.unproven)),
    ...compared('apply refused', [...observed.applyRefused], [...truth.applyRefused]),
  ]
}

function changeOf({ id, change, path, actor, risk }: Drift): ExpectedChange {
  return {
    object: nameOf(id),
    change,
    path: formatFieldPath(path),
    manager: actor.manager,
    class: actor.class,
    risk,
  }
}

export function nameOf({ kind, name }: Pick<ResourceId, 'kind' | 'name'>): string {
  return `${kind}/${name}`
}

export function lineOf({
  object,
  change,
  path,
  manager,
  class: actor,
  risk,
}: ExpectedChange): string {
  return `${[object, change, path].filter((part) => part !== '').join(' ')} by ${manager} (${actor}), ${risk}`
}

/** A rule counts only where the truth names one for the place. */
function asideOf(setAside: readonly ExpectedSetAside[]): (aside: ExpectedSetAside) => string {
  const ruled = new Set(
    setAside
      .filter(({ rule }) => rule !== undefined)
      .map(({ object, path }) => `${object} ${path}`),
  )
  return ({ object, path, state, rule }) => {
    const location = `${object} ${path}`
    return `${location} ${state}${ruled.has(location) ? ` by ${rule ?? 'no rule'}` : ''}`
  }
}

function linesOf(record: Readonly<Record<string, string>>): string[] {
  return Object.entries(record).map(([object, state]) => `${object} ${state}`)
}

function compared(what: string, observed: readonly string[], wanted: readonly string[]): string[] {
  const rest = [...observed]
  const missed = wanted.filter((line) => {
    const index = rest.indexOf(line)
    if (index !== -1) rest.splice(index, 1)
    return index === -1
  })
  return [
    ...missed.map((line) => `${what}, missed: ${line}`),
    ...rest.map((line) => `${what}, not so: ${line}`),
  ]
}

function sorted<Value>(values: readonly Value[]): Value[] {
  return [...values].sort((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1))
}
