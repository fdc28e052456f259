import {
  compareText,
  convertDurationToSeconds,
  matchesParts,
  omitUndefined,
} from '@backporch/kyaml/text'
import type { ActorRule } from '../drift/attribute/actor-classes.ts'
import type { Resolution } from '../drift/compare/drift.ts'
import type { IgnoreRule } from '../drift/noise/ignore-rules.ts'
import { listPresetRules } from '../drift/noise/presets.ts'
import type { VisibilityRules } from '../drift/noise/visibility.ts'
import type { RiskOverride } from '../drift/risk/risk-overrides.ts'
import { RENDERED_BY_KPT, type RenderChoice } from '../sources/build/render-choice.ts'
import { isSameChoice } from '../sources/registry.ts'
import { type HouseRules, NO_HOUSE_RULES } from './house-rules.ts'
import { mergeHouseRules } from './house-schema.ts'
import type { LastGoodPolicy } from './last-good-policy.ts'
import type { Policy, PolicySet } from './parse-policy.ts'
import { chooseRender, listPossibleRenders } from './render-schema.ts'
import { isOff, type Mode, REMIND_AFTER } from './schema.ts'
import type { PolicyWindow } from './windows.ts'

export interface EffectivePolicy {
  /** Set if it is not the policy of the base commit. */
  readonly lastGood?: LastGoodPolicy
  readonly name: string
  /** `path:line`; undefined for the shipped default. */
  readonly location: string | undefined
  readonly mode: Mode
  readonly settle: 'syncer' | 'backporch'
  /** A branch for a Porch server never changes. */
  readonly approval: 'forge' | 'porch'
  readonly tags: 'packages' | 'all' | 'none'
  readonly defaultPlan: Resolution
  readonly house: HouseRules
  readonly render: RenderChoice
  /** `path:line`; undefined for the shipped default. */
  readonly renderLocation: string | undefined
  /** Undefined: found from the objects. */
  readonly fieldManager: string | undefined
  readonly closeSilence: number
  /** Seconds without a decision. */
  readonly remindAfter: number
  /** Seconds until code owners are requested by name; never shorter than `remindAfter`. */
  readonly escalateAfter: number
  readonly verifyTimeout: number
  readonly detect: Detection
  readonly windows: readonly PolicyWindow[]
  readonly ignore: readonly IgnoreRule[]
  /** The first match decides. */
  readonly actors: readonly ActorRule[]
  /** The first match decides. */
  readonly riskOverrides: readonly RiskOverride[]
  readonly visibility: VisibilityRules
  /** From the highest-priority policy that names any (src/drift/noise); default: all. */
  readonly presets: readonly string[]
  /** Package annotations cannot override these policies. */
  readonly enforcedBy: readonly string[]
  /** The deciding one first: `policy/prod (.drift/policy.yaml:8)`; the shipped default last. */
  readonly chain: readonly string[]
}

/** All in seconds. */
interface Detection {
  /** Unchanged before it is proposed. */
  readonly minAge: number
  /** Objects unchanged before a proposal is ready. */
  readonly settle: number
  /** Age of a cluster's last report. */
  readonly unobservedAfter: number
  /** Interval of ledger entries while nothing changes. */
  readonly interval: number
  /** Age of the last observation; undefined: three intervals. */
  readonly staleAfter: number | undefined
  /** For the syncer to apply git; undefined: from its own interval. */
  readonly stuckAfter: number | undefined
}

/** 0 is no limit. */
export interface Limits {
  readonly prHourlyLimit: number
  readonly prConcurrentLimit: number
  readonly stormThreshold: number
  readonly stormObjects: number
  /** Percent of a cluster's objects. */
  readonly stormShare: number
  readonly massMinClusters: number
  /** Schedule in UTC for purely low-risk drift; undefined: like other drift. */
  readonly digest: string | undefined
}

const DAY = 86_400

export const DEFAULT_LIMITS: Limits = {
  prHourlyLimit: 2,
  prConcurrentLimit: 10,
  stormThreshold: 50,
  stormObjects: 50,
  stormShare: 20,
  massMinClusters: 3,
  digest: '0 8 * * MON',
}

export const DEFAULT_POLICY: EffectivePolicy = {
  name: 'default',
  location: undefined,
  mode: 'Warn',
  settle: 'syncer',
  approval: 'forge',
  tags: 'packages',
  render: RENDERED_BY_KPT,
  renderLocation: undefined,
  defaultPlan: 'Restore',
  house: NO_HOUSE_RULES,
  fieldManager: undefined,
  closeSilence: 30 * DAY,
  remindAfter: convertDurationToSeconds(REMIND_AFTER),
  escalateAfter: 14 * DAY,
  verifyTimeout: 600,
  detect: {
    minAge: 120,
    settle: 120,
    unobservedAfter: 900,
    interval: 600,
    staleAfter: undefined,
    stuckAfter: undefined,
  },
  windows: [],
  ignore: [],
  actors: [],
  riskOverrides: [],
  visibility: { hide: [], show: [] },
  presets: listPresetRules(undefined),
  enforcedBy: [],
  chain: ['shipped default (Warn)'],
}

/**
 * A folder has no revisions: a tag on it starts workflows and changes the output of `git describe`.
 * @param source undefined for a kpt package
 */
export function shouldSetTags(
  { tags }: Pick<EffectivePolicy, 'tags'>,
  source: 'kpt' | 'folder' | undefined,
): boolean {
  return tags === 'all' || (tags === 'packages' && source !== 'folder')
}

/**
 * Each setting comes from the highest-priority matching policy that gives it; ignore rules come
 * from all. If the operator enforces a policy, those of the repository only decide the rendering.
 */
export function deriveEffectivePolicy(
  set: PolicySet,
  cluster: string,
  packagePath: string,
): EffectivePolicy {
  const all = sortByPriority(
    set.policies.filter(
      ({ document }) =>
        matches(document.spec.match?.clusters, cluster, '*') &&
        matches(document.spec.match?.packages, packagePath, '/'),
    ),
  )
  const matching = all.some((policy) => isOperators(policy) && isEnforced(policy))
    ? all.filter(isOperators)
    : all
  const specs = matching.map(({ document }) => document.spec)
  const secondsGiven = (pick: (spec: Spec) => string | undefined): number | undefined => {
    const text = specs.map(pick).find((each) => each !== undefined)
    return text === undefined ? undefined : convertDurationToSeconds(text)
  }
  const seconds = (pick: (spec: Spec) => string | undefined, otherwise: number): number =>
    secondsGiven(pick) ?? otherwise
  const remindAfter = seconds(({ decide }) => decide?.remindAfter, DEFAULT_POLICY.remindAfter)
  // By default twice as late as the reminder.
  const escalateAfter = seconds(
    ({ decide }) => decide?.escalateAfter,
    Math.max(DEFAULT_POLICY.escalateAfter, 2 * remindAfter),
  )
  return {
    ...omitUndefined({ lastGood: set.lastGood }),
    name: matching[0]?.document.metadata.name ?? DEFAULT_POLICY.name,
    location: matching[0]?.where,
    mode: specs.find((spec) => spec.mode !== undefined)?.mode ?? DEFAULT_POLICY.mode,
    settle: specs.find((spec) => spec.settle !== undefined)?.settle ?? DEFAULT_POLICY.settle,
    approval:
      specs.find((spec) => spec.approval !== undefined)?.approval ?? DEFAULT_POLICY.approval,
    tags: specs.find((spec) => spec.tags !== undefined)?.tags ?? DEFAULT_POLICY.tags,
    render: chooseRender(
      all.map(({ document }) => document.spec),
      set.synced?.get(cluster)?.get(packagePath) ?? set.folders?.get(packagePath),
    ),
    renderLocation: all.find(({ document }) => document.spec.render !== undefined)?.where,
    defaultPlan:
      specs.find((spec) => spec.decide?.defaultPlan !== undefined)?.decide?.defaultPlan ??
      DEFAULT_POLICY.defaultPlan,
    house: deriveHouseRules(set),
    fieldManager: specs.find((spec) => spec.fieldManager !== undefined)?.fieldManager,
    closeSilence: seconds(({ decide }) => decide?.closeSilence, DEFAULT_POLICY.closeSilence),
    remindAfter,
    escalateAfter: Math.max(escalateAfter, remindAfter),
    verifyTimeout: seconds(({ decide }) => decide?.verifyTimeout, DEFAULT_POLICY.verifyTimeout),
    detect: {
      minAge: seconds(({ detect }) => detect?.minAge, DEFAULT_POLICY.detect.minAge),
      settle: seconds(({ detect }) => detect?.settle, DEFAULT_POLICY.detect.settle),
      unobservedAfter: seconds(
        ({ detect }) => detect?.unobservedAfter,
        DEFAULT_POLICY.detect.unobservedAfter,
      ),
      interval: seconds(({ detect }) => detect?.interval, DEFAULT_POLICY.detect.interval),
      staleAfter: secondsGiven(({ detect }) => detect?.staleAfter),
      stuckAfter: secondsGiven(({ detect }) => detect?.stuckAfter),
    },
    windows: matching.flatMap(({ windows }) => windows),
    ignore: matching.flatMap(({ ignore }) => ignore),
    actors: matching.flatMap(({ actors }) => actors),
    riskOverrides: matching.flatMap(({ riskOverrides }) => riskOverrides),
    visibility: {
      hide: matching.flatMap(({ visibility }) => visibility.hide),
      show: matching.flatMap(({ visibility }) => visibility.show),
      ...omitUndefined({ withheld: set.lastGood?.withheld }),
    },
    presets: listPresetRules(specs.find((spec) => spec.extends !== undefined)?.extends),
    enforcedBy: matching.filter(isEnforced).map(getName),
    chain: [
      ...matching.map((policy) => `${isEnforced(policy) ? 'enforced by ' : ''}${getName(policy)}`),
      ...DEFAULT_POLICY.chain,
    ],
  }
}

export function readRenders(
  { policies, folders, synced = new Map() }: Pick<PolicySet, 'policies' | 'folders' | 'synced'>,
  packagePath: string,
): readonly RenderChoice[] {
  const matching = sortByPriority(
    policies.filter(({ document }) => matches(document.spec.match?.packages, packagePath, '/')),
  )
  const built = [...synced.values()].flatMap((choices) => choices.get(packagePath) ?? [])
  const other = listPossibleRenders(
    matching.map(({ document: { spec } }) => ({
      render: spec.render,
      everywhere: spec.match?.clusters?.includes('*') ?? true,
    })),
    built[0] ?? folders?.get(packagePath),
  )
  return [...other, ...built.slice(1)].filter(
    (choice, index, all) => all.findIndex((each) => isSameChoice(each, choice)) === index,
  )
}

/** From the highest-priority policy that gives a rule, whatever it matches. */
export function deriveHouseRules({ policies }: Pick<PolicySet, 'policies'>): HouseRules {
  return mergeHouseRules(sortByPriority(policies).map(({ document }) => document.spec))
}

/** From the highest-priority policy that gives a limit, whatever it matches. */
export function deriveRepositoryLimits({ policies }: Pick<PolicySet, 'policies'>): Limits {
  const given = sortByPriority(policies).map(({ document }) => document.spec.limits)
  const first = <Name extends keyof Limits>(name: Name) =>
    given.map((limits) => limits?.[name]).find((limit) => limit !== undefined)
  const of = (name: Exclude<keyof Limits, 'digest'>): number => first(name) ?? DEFAULT_LIMITS[name]
  const digest = first('digest') ?? DEFAULT_LIMITS.digest
  return {
    prHourlyLimit: of('prHourlyLimit'),
    prConcurrentLimit: of('prConcurrentLimit'),
    stormThreshold: of('stormThreshold'),
    stormObjects: of('stormObjects'),
    stormShare: of('stormShare'),
    massMinClusters: of('massMinClusters'),
    digest: digest === undefined || isOff(digest) ? undefined : digest.trim(),
  }
}

/** Seconds; from the highest-priority policy that may apply to the cluster. */
export function getClusterDetection(
  set: Pick<PolicySet, 'policies'>,
  cluster: string,
  setting: 'unobservedAfter' | 'interval',
): number {
  return findDetection(set, cluster, setting) ?? DEFAULT_POLICY.detect[setting]
}

/** Intervals without another observation, unless the policy gives a time. */
const KNOWN_FOR = 3

/** Seconds. */
export function getClusterStaleAfter(set: Pick<PolicySet, 'policies'>, cluster: string): number {
  return (
    findDetection(set, cluster, 'staleAfter') ??
    KNOWN_FOR * getClusterDetection(set, cluster, 'interval')
  )
}

function findDetection(
  { policies }: Pick<PolicySet, 'policies'>,
  cluster: string,
  setting: 'unobservedAfter' | 'interval' | 'staleAfter',
): number | undefined {
  const given = sortByPriority(
    policies.filter(({ document }) => matches(document.spec.match?.clusters, cluster, '*')),
  )
    .map(({ document }) => document.spec.detect?.[setting])
    .find((text) => text !== undefined)
  return given === undefined ? undefined : convertDurationToSeconds(given)
}

/** By placements, and folders that the cluster's syncers apply. Undefined without any placement. */
export function listPlacedPackages(
  set: PolicySet,
  cluster: string,
  packages: readonly string[],
): readonly string[] | undefined {
  if (set.placements.length === 0) return undefined
  const here = set.placements.filter(({ spec }) => matches(spec.clusters, cluster, '*'))
  return packages.filter((path) => {
    const isFolder = set.folders?.has(path) === true
    if (set.synced?.get(cluster)?.has(path) === true) return true
    return here.some(({ spec }) => matchesPath((isFolder ? spec.paths : spec.packages) ?? [], path))
  })
}

export function matchesPath(globs: readonly string[], path: string): boolean {
  return globs.some((glob) =>
    matchSegments(glob.replace(/^(\.\/)+|^\.$/, '').replace(/\/+$/, ''), path),
  )
}

type Spec = Policy['document']['spec']

/** Enforced first; ties by name, as in the Gateway API. */
function sortByPriority(policies: readonly Policy[]): readonly Policy[] {
  return policies.toSorted(
    (left, right) =>
      Number(isOperators(right) && isEnforced(right)) -
        Number(isOperators(left) && isEnforced(left)) ||
      getPriority(right) - getPriority(left) ||
      Number(isOperators(right)) - Number(isOperators(left)) ||
      compareText(left.document.metadata.name, right.document.metadata.name) ||
      compareText(left.where, right.where),
  )
}

function getPriority({ document }: Policy): number {
  return document.spec.priority ?? 0
}

function isOperators({ origin }: Policy): boolean {
  return origin === 'operator'
}

function isEnforced({ document }: Policy): boolean {
  return document.spec.enforce === true
}

function getName({ document, where, origin }: Policy): string {
  return `${origin === 'operator' ? 'operator ' : ''}policy/${document.metadata.name} (${where})`
}

export function matchesName(glob: string, name: string): boolean {
  return matchesParts(glob.split('*'), name)
}

/** `*` is any text of one segment (`/`) or of the whole name (`*`), `**` any segments. */
function matches(
  globs: readonly string[] | undefined,
  text: string,
  separator: '/' | '*',
): boolean {
  if (globs === undefined) return true
  return globs.some((glob) =>
    separator === '*' ? matchesName(glob, text) : matchSegments(glob, text),
  )
}

/** At most the product of the two lengths: backtracks only to the last star. */
function matchSegments(pattern: string, path: string): boolean {
  const [glob, parts] = [pattern.split('/'), path.split('/')]
  let [at, index, star, mark] = [0, 0, -1, 0]
  for (let part = parts[at]; part !== undefined; part = parts[at]) {
    const wanted = glob[index]
    if (wanted === '**') [star, mark, index] = [index, at, index + 1]
    else if (wanted !== undefined && matchesName(wanted, part)) [at, index] = [at + 1, index + 1]
    else if (star !== -1) [mark, at, index] = [mark + 1, mark + 1, star + 1]
    else return false
  }
  while (glob[index] === '**') index += 1
  return index === glob.length
}
