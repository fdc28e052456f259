/** Refusals of adoptions, and their remedies. */
import { Failure } from '../../failure.ts'
import type { RenderedPackage } from '../../render/render-package.ts'
import { describeMoved, listMoved, type MovedField } from '../moved-fields.ts'
import { cannot, editFor, isEdited, type ResolvedChange } from '../resolution-edits.ts'
import type { Candidate, Obstacle } from './candidate.ts'

/** The changes that need an edit. @throws Failure as `editFor` */
export function editedChanges(changes: readonly ResolvedChange[]): readonly ResolvedChange[] {
  return changes.filter((change) => isEdited(change) && editFor(change) !== undefined)
}

/**
 * Why each change by itself cannot be adopted, in their order; undefined where it can, also where several places give the value.
 * @param begin prepares an adoption, and returns what throws the Failure of one change
 */
export function problemsOf(
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
  return changes.map((change) => {
    const failure = failureOf(() => {
      if (editedChanges([change]).length > 0) choose(change)
    })
    return failure?.code === 'BP2014' ? undefined : failure?.why
  })
}

/** The result of an edit; undefined where the edit cannot be made, with the reason among the obstacles. */
export function tryEdit<T>(obstacles: Obstacle[], apply: () => T): T | undefined {
  try {
    return apply()
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    obstacles.push({ where: thrown.where ?? '', why: thrown.why, remedy: thrown.remedy })
    return undefined
  }
}

/** As `tryEdit`, of the rendering with an edit. @throws Failure BP2001 of the whole adoption */
export function tryRender<T>(obstacles: Obstacle[], where: string, { what }: Candidate, render: () => T): T | undefined {
  try {
    return render()
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.code === 'BP2001') throw thrown
    obstacles.push({ where, why: `with the edit of ${what} the package does not render: ${thrown.why}`, remedy: thrown.remedy })
    return undefined
  }
}

/**
 * The one trial to take, of those that give the live value and move nothing else; undefined where there is none.
 * @throws Failure BP2014 where there are several, and the change names none of them
 */
export function onlyTrial<Trial extends { readonly candidate: Candidate }>(
  change: ResolvedChange,
  clean: readonly Trial[],
): Trial | undefined {
  const named = change.via === undefined ? [] : clean.filter(({ candidate }) => candidate.via === change.via)
  const [only, second] = named.length > 0 ? named : clean
  if (second === undefined) return only
  throw ambiguous(
    change,
    clean.map(({ candidate }) => candidate),
  )
}

function declaredAt({ desired }: ResolvedChange): { readonly where?: string } {
  return desired === undefined ? {} : { where: `${desired.location.path}:${desired.location.line}` }
}

/** @param dirty candidates that land and move more */
export function refusal(
  change: ResolvedChange,
  dirty: readonly { readonly candidate: Candidate; readonly others: readonly MovedField[] }[],
  obstacles: readonly Obstacle[],
): Failure {
  const [best] = dirty.toSorted((one, other) => one.others.length - other.others.length)
  if (best !== undefined)
    return cannot(change, {
      ...declaredAt(change),
      why: `its value comes from ${best.candidate.what}, and an edit there would also move ${listMoved(best.others)}`,
      remedy:
        'choose restore; adopt those fields in the same call, if they have drifted to the same value; or edit the location by hand, if they are to move too',
    })
  const [obstacle] = obstacles
  if (obstacle !== undefined) {
    const { where, why, remedy } = obstacle
    return cannot(change, { ...(where === '' ? {} : { where }), why, remedy })
  }
  const created = change.desired?.location.step
  return cannot(change, {
    ...declaredAt(change),
    why:
      created === undefined
        ? 'no authored place was found whose edit gives the live value'
        : `the function ${created} makes the object, and no file declares it`,
    remedy: 'edit the source by hand and commit it, or choose restore',
  })
}

/** @param unit the other unit that would change */
export function shared(change: ResolvedChange, { what }: Pick<Candidate, 'what'>, unit: string, moved: readonly MovedField[]): Failure {
  const also = moved.length === 0 ? 'change it' : `move ${listMoved(moved)} there`
  return cannot(change, {
    why: `its value comes from ${what}, which ${unit} is built from too: an edit there would also ${also}`,
    remedy:
      'set the value where only this unit has it, as in a patch of its overlay, or choose restore; edit the file by hand if the value is to change everywhere',
  })
}

export function ofCommand(change: ResolvedChange, command: string): Failure {
  return cannot(change, {
    why: `the command ${JSON.stringify(command.slice(0, 120))} prints the object, and does not say what it has the value from`,
    remedy: 'edit what the command reads by hand and commit it, or choose restore',
  })
}

/** @param candidates several that give the live value and move nothing else */
function ambiguous(change: ResolvedChange, candidates: readonly Candidate[]): Failure {
  if (change.via !== undefined && candidates.every(({ via }) => via !== change.via)) return unknownLocation(change, candidates)
  return cannot(change, {
    code: 'BP2014',
    ...declaredAt(change),
    why: `${candidates.length} places give the live value and move nothing else: ${namedLocations(candidates)}`,
    remedy: `choose one with --via, as in --via=${candidates[0]?.via ?? ''}`,
  })
}

export interface ChosenLocation {
  readonly change: ResolvedChange
  readonly candidate: Candidate
}

/** @throws Failure BP2014 for a change whose `via` names no chosen location */
export function assertNamed(wanted: readonly ResolvedChange[], chosen: readonly ChosenLocation[]): void {
  const unknown = wanted.find(({ via }) => via !== undefined && !chosen.some(({ candidate }) => candidate.via === via))
  if (unknown === undefined) return
  // Other changes of the plan were not tried.
  const requested = chosen.filter(({ change }) => change.via === unknown.via)
  throw unknownLocation(
    unknown,
    (requested.length === 0 ? chosen : requested).map(({ candidate }) => candidate),
  )
}

/** @param fitting candidates that give the live value and move nothing else */
function unknownLocation(change: ResolvedChange, fitting: readonly Candidate[]): Failure {
  return cannot(change, {
    code: 'BP2014',
    what: `by way of ${JSON.stringify(change.via)}`,
    ...declaredAt(change),
    why: `no place of that name gives the live value; these do: ${namedLocations(fitting)}`,
    remedy: 'name one of these with --via',
  })
}

function namedLocations(candidates: readonly Candidate[]): string {
  return [...new Set(candidates.map(({ via, what }) => `${what} as "${via}"`))].join(', ')
}

export function notIdempotent(moved: MovedField, { run }: RenderedPackage): Failure {
  return new Failure({
    code: 'BP1207',
    what: 'rendering the rendered package changes it again',
    ...(run === undefined ? {} : { where: moved.resource.location.path }),
    why: `${describeMoved(moved)} gets another value with each render, so that no edit can be proven`,
    remedy: 'make the function idempotent that writes it, or choose restore',
  })
}

/** For changes that can be adopted one by one. */
export function undone(change: ResolvedChange): Failure {
  return cannot(change, {
    ...declaredAt(change),
    why: 'another of the chosen changes is edited at the same place, and gives this field another value',
    remedy: 'adopt one of the two, and choose restore for the other',
  })
}

export function movedTogether(packagePath: string, moved: readonly MovedField[]): Failure {
  const why = `each can be adopted by itself, and their edits together would also move ${listMoved(moved)}`
  return fewerAtOnce(packagePath, 'cannot adopt the chosen changes together', why)
}

export function tooMany(packagePath: string): Failure {
  return fewerAtOnce(packagePath, 'cannot adopt so much at once', 'too many places would have to be tried by rendering')
}

function fewerAtOnce(packagePath: string, what: string, why: string): Failure {
  const where = packagePath === '' ? 'the root of the repository' : packagePath
  return new Failure({ code: 'BP2001', what, where, why, remedy: 'adopt fewer changes at a time' })
}
