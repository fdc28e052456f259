import { Failure } from '@backporch/kyaml/failure'
import { formatRedactedPath } from '@backporch/kyaml/redaction'
import { describeResourceId } from '@backporch/kyaml/resource'
import { omitUndefined } from '@backporch/kyaml/text'
import { listMoved, type MovedField } from '../edits/moved-fields.ts'
import {
  createCannotFailure,
  createEdit,
  isEdited,
  type ResolvedChange,
} from '../edits/resolution-edits.ts'
import { computeEach } from '../programs/questions.ts'
import { REMEDY_APPLIED, WHY_APPLIED } from './applied-configs.ts'
import type { Candidate, Obstacle } from './candidate.ts'

/** @throws Failure as `editFor` */
export function selectEditedChanges(changes: readonly ResolvedChange[]): readonly ResolvedChange[] {
  return changes.filter((change) => isEdited(change) && createEdit(change) !== undefined)
}

/**
 * Why each change by itself cannot be adopted, in their order; undefined where it can, also where several places give the value.
 * @param begin prepares an adoption, and returns what throws the Failure of one change
 * @throws Unanswered with the builds that all of them need next
 */
export function listChangeProblems(
  changes: readonly ResolvedChange[],
  begin: () => (change: ResolvedChange) => void,
): readonly (string | undefined)[] {
  const failureOf = (work: () => void): Failure | undefined => {
    try {
      work()
      return undefined
    } catch (thrown) {
      if (thrown instanceof Failure) return thrown
      throw thrown
    }
  }
  let choose: (change: ResolvedChange) => void = () => undefined
  const whole = failureOf(() => {
    choose = begin()
  })
  if (whole !== undefined) return changes.map(() => `${whole.what}: ${whole.why}`)
  return computeEach(changes, (change) => {
    const failure = failureOf(() => {
      if (selectEditedChanges([change]).length > 0) choose(change)
    })
    return failure?.code === 'BP2014' ? undefined : failure?.why
  })
}

/** Undefined if the edit is impossible, with the reason among the obstacles. */
export function tryEdit<T>(obstacles: Obstacle[], apply: () => T): T | undefined {
  try {
    return apply()
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    obstacles.push({ where: thrown.where, why: thrown.why, remedy: thrown.remedy })
    return undefined
  }
}

/** @throws Failure BP2001 of the whole adoption */
export function tryRender<T>(
  obstacles: Obstacle[],
  { what }: Candidate,
  render: () => T,
): T | undefined {
  try {
    return render()
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.code === 'BP2001') throw thrown
    obstacles.push({
      where: thrown.where,
      why: `with the edit of ${what} the package does not render: ${thrown.why}`,
      remedy: thrown.remedy,
    })
    return undefined
  }
}

/**
 * Undefined if no trial gives the live value and moves nothing else.
 * @throws Failure BP2014 if there are several, and the change names none of them
 */
export function findOnlyTrial<Trial extends { readonly candidate: Candidate }>(
  change: ResolvedChange,
  clean: readonly Trial[],
): Trial | undefined {
  const named =
    change.via === undefined ? [] : clean.filter(({ candidate }) => candidate.via === change.via)
  const [only, second] = named.length > 0 ? named : clean
  if (second === undefined) return only
  throw createAmbiguousFailure(
    change,
    clean.map(({ candidate }) => candidate),
  )
}

export interface DirtyTrial {
  readonly candidate: Candidate
  readonly others: readonly MovedField[]
  /** From 1. */
  readonly number?: number
  readonly rewritten?: readonly string[]
  readonly movesConfig?: boolean
}

interface Tried {
  readonly dirty: readonly DirtyTrial[]
  readonly obstacles: readonly Obstacle[]
  readonly writer?: string | undefined
}

export function createTrialRefusal(
  change: ResolvedChange,
  { dirty, obstacles, writer }: Tried,
): Failure {
  const [best] = dirty.toSorted((one, other) => one.others.length - other.others.length)
  if (best !== undefined)
    return createCannotFailure(change, {
      why: `its value comes from ${best.candidate.what}, and an edit there would also change ${listMoved(best.others)}${describeLaterRender(best)}${best.movesConfig ? `: ${WHY_APPLIED}` : ''}`,
      remedy: best.movesConfig
        ? REMEDY_APPLIED
        : 'choose restore; adopt those fields in the same call, if they have drifted too; or edit the location by hand, if they should change too',
    })
  const [obstacle] = obstacles
  if (obstacle !== undefined) {
    const { where, why, remedy } = obstacle
    return createCannotFailure(change, { ...omitUndefined({ where }), why, remedy })
  }
  const created = change.desired?.location.step
  return createCannotFailure(change, {
    why:
      created === undefined
        ? `no authored place was found whose edit gives the live value${writer === undefined ? '' : `: the last function that writes it is ${writer}`}`
        : `the function ${created} makes the object, and no file declares it`,
    remedy: 'edit the source by hand and commit it, or choose restore',
  })
}

const ORDINALS = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth']

function formatOrdinal(number: number): string {
  return ORDINALS[number - 1] ?? `${number}th`
}

function describeLaterRender({
  number = 1,
  rewritten = [],
}: Pick<DirtyTrial, 'number' | 'rewritten'>): string {
  if (number === 1) return ''
  return ` when the package is rendered a ${formatOrdinal(number)} time${rewritten.length === 0 ? '' : `, because the render before that changes ${rewritten.join(' and ')}`}`
}

/** Undefined if the renders prove the edit, and if they move other fields. */
export function findNotProvenObstacle(
  { what }: Pick<Candidate, 'what'>,
  proof: Omit<DirtyTrial, 'candidate'> & LaterRender,
): Obstacle | undefined {
  if (proof.others.length > 0) return undefined
  if (proof.unsettled !== undefined)
    return {
      where: undefined,
      why: `with the edit of ${what} the pipeline is not idempotent: ${proof.unsettled} changes with each render`,
      remedy: 'correct the pipeline so that a second render changes nothing, or choose restore',
    }
  if (proof.lands) return undefined
  return {
    where: undefined,
    why: `with the edit of ${what} the field gets another value${describeLaterRender(proof)}`,
    remedy:
      'edit by hand what the pipeline writes there, so that a second render changes nothing, or choose restore',
  }
}

interface LaterRender {
  readonly lands: boolean
  readonly unsettled: string | undefined
}

export function createSharedObstacle(
  change: ResolvedChange,
  { what }: Pick<Candidate, 'what'>,
  unit: { readonly name: string; readonly moved: readonly MovedField[] },
  remedy: string,
): Failure {
  const { name, moved } = unit
  const also = moved.length === 0 ? 'change it' : `change ${listMoved(moved)} there`
  const why = `its value comes from ${what}, which ${name} is built from too: an edit there would also ${also}`
  return createCannotFailure(change, { why, remedy })
}

export function describeSharedRemedy(ownPlace: string): string {
  return `set the value where only this unit has it, as in ${ownPlace}, or choose restore; adopt with --via=everywhere if the value should change everywhere`
}

/** The release changes with its resource, once rolled out. */
export const REMEDY_OF_RELEASE =
  'wait until the release has the value too, and adopt it then, or choose restore; adopt with --via=everywhere if the release should change with the merge'

export function createNotLocatedFailure(
  change: ResolvedChange,
  refusal: { readonly why: string; readonly remedy: string },
): Failure {
  return createCannotFailure(change, refusal)
}

function createAmbiguousFailure(change: ResolvedChange, candidates: readonly Candidate[]): Failure {
  if (change.via !== undefined && candidates.every(({ via }) => via !== change.via))
    return createUnknownLocationFailure(change, candidates)
  return createCannotFailure(change, {
    code: 'BP2014',
    why: `${candidates.length} places give the live value and change nothing else: ${formatNamedLocations(candidates)}`,
    remedy: `choose one with --via, as in --via=${candidates[0]?.via ?? ''}`,
  })
}

export interface ChosenLocation {
  readonly change: ResolvedChange
  readonly candidate: Candidate
}

/** @throws Failure BP2014 for a change whose `via` names no chosen location */
export function assertNamed(
  wanted: readonly ResolvedChange[],
  chosen: readonly ChosenLocation[],
): void {
  const unknown = wanted.find(
    ({ via }) => via !== undefined && !chosen.some(({ candidate }) => candidate.via === via),
  )
  if (unknown === undefined) return
  // Other changes of the plan were not tried.
  const requested = chosen.filter(({ change }) => change.via === unknown.via)
  throw createUnknownLocationFailure(
    unknown,
    (requested.length === 0 ? chosen : requested).map(({ candidate }) => candidate),
  )
}

function createUnknownLocationFailure(
  change: ResolvedChange,
  fitting: readonly Candidate[],
): Failure {
  return createCannotFailure(change, {
    code: 'BP2014',
    what: `by way of ${JSON.stringify(change.via)}`,
    why: `no place of that name gives the live value; these do: ${formatNamedLocations(fitting)}`,
    remedy: 'name one of these with --via',
  })
}

function formatNamedLocations(candidates: readonly Candidate[]): string {
  return [...new Set(candidates.map(({ via, what }) => `${what} as "${via}"`))].join(', ')
}

export function createNeverSettlesFailure(packagePath: string, moving: string): Failure {
  return new Failure({
    code: 'BP1207',
    what: 'a second render changes the rendered package again',
    where: describePackage(packagePath),
    why: `${moving} changes with each render, so that no edit can be proven`,
    remedy: 'make the function that writes it idempotent, or choose restore',
  })
}

export function createUndoneFailure(
  change: ResolvedChange,
  chosen: readonly ChosenLocation[],
): Failure {
  const at = chosen.findIndex((each) => each.change === change)
  const others = chosen.slice(at + 1).map(({ change: { drift }, candidate }) => {
    const field = formatRedactedPath(drift.path, drift.id)
    return `${field === '' ? '' : `${field} of `}${describeResourceId(drift.id)} at ${candidate.what}`
  })
  return createCannotFailure(change, {
    why: `with the edit of ${others.join(', and of ') || 'the other changes'}, this field does not get its chosen value`,
    remedy: 'adopt one of the two, and choose restore for the other',
  })
}

export function createTooManyChangesFailure(packagePath: string): Failure {
  return new Failure({
    code: 'BP2001',
    what: 'cannot adopt so many changes at once',
    where: describePackage(packagePath),
    why: 'too many places would have to be tried by rendering',
    remedy: 'adopt fewer changes at a time',
  })
}

function describePackage(packagePath: string): string {
  return packagePath === '' ? 'the root of the repository' : packagePath
}
