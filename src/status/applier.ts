/**
 * `listClaims` names the syncer resources to read, and `determineApplier` judges by their reports.
 * Unreadable data gives `unknown`.
 */
import { convertToFailure } from '@backporch/kyaml/failure'
import { type FieldManager, getManagedFields } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { getResourceKey, type LiveState, type LiveView } from '@backporch/kyaml/resource'
import {
  formatPhrase,
  joinPhrases,
  listPhrases,
  type Phrase,
  phrase,
  quoteShellWord,
} from '@backporch/kyaml/text'
import { hasNoOwners } from '../drift/unowned/unowned-fields.ts'
import { RENDERED_BY_KPT, type RenderChoice } from '../sources/build/render-choice.ts'
import { describeChoice } from '../sources/registry.ts'
import { formatClaimTitle } from '../syncers/claims.ts'
import { findManagerNames, getApplierKind } from '../syncers/registry.ts'
import type { Claim, DriftedField, Judgement, Restores, SyncerReport } from '../syncers/syncer.ts'

export interface Applier {
  /**
   * `Flux Kustomization apps/web`, `field manager ci`, `nobody`. Printable ASCII; other characters
   * become `?`.
   */
  readonly name: string
  readonly restores: Restores
  /** Of a merged Restore: a clause without a full stop. */
  readonly sentence: string
  /** Applies immediately, if a syncer would otherwise do so later. No control characters. */
  readonly command: string | undefined
  readonly warning: string | undefined
  /** Whether live returns to git without a merge, perhaps before a review. */
  readonly revertsUnasked: 'yes' | 'no' | 'unknown'
  /** Separate external text, for encoding. */
  readonly phrases: { readonly sentence: Phrase; readonly warning: Phrase }
  readonly report?: SyncerReport
}

interface ApplierQuestion {
  readonly claims: readonly Claim[]
  /** By `getResourceKey`. */
  readonly live: LiveView
  /** By `getResourceKey`. */
  readonly own: LiveView
  /** Without differences that are set aside. */
  readonly drifts: readonly DriftedField['drift'][]
  readonly syncer: FieldManager | undefined
  /** From the repository root; empty for the root. */
  readonly packagePath: string
  /** With a pipeline the files are not applied unchanged. */
  readonly pipeline: boolean
  /** From the repository root; undefined if some object is in no file. */
  readonly files?: readonly string[] | undefined
  /** Files that kubectl reads, such as kpt's `package-context.yaml`. */
  readonly otherFiles?: boolean
  /** Default: kpt renders it. */
  readonly render?: RenderChoice
}

/** One request each. More appliers indicate an error. */
export const MOST_JUDGED = 4

/** Those on drifted objects; all if there are none. */
export function selectDecidingClaims({
  claims,
  drifts,
}: Pick<ApplierQuestion, 'claims' | 'drifts'>): readonly Claim[] {
  const keys = drifts.map(({ id }) => getResourceKey(id))
  const touched = claims.filter((claim) => keys.some((key) => claim.objects.has(key)))
  return (touched.length > 0 ? touched : claims).slice(0, MOST_JUDGED)
}

export function determineApplier(question: ApplierQuestion): Applier {
  const { claims } = question
  const deciding = selectDecidingClaims(question)
  if (deciding.length === 0) return judgeByManager(question)
  const judged = deciding.map((claim) => ({ claim, ...judge(claim, question) }))
  const [only] = judged
  const warnings = [...describeManyClaims(claims), ...judged.flatMap((one) => one.warnings)]
  if (judged.length === 1 && only !== undefined)
    return createApplier(formatClaimTitle(only.claim), { ...only, warnings })
  const commands = new Set(judged.flatMap(({ command }) => command ?? []))
  return createApplier(
    joinPhrases(
      judged.map(({ claim }) => formatClaimTitle(claim)),
      ', ',
    ),
    {
      restores: findCommonValue(judged.map(({ restores }) => restores)) ?? 'unknown',
      revertsUnasked:
        findCommonValue(judged.map(({ revertsUnasked }) => revertsUnasked)) ?? 'unknown',
      sentence: joinPhrases(
        judged.map(({ sentence }) => sentence),
        '; ',
      ),
      command: commands.size === 0 ? undefined : [...commands].join(' && '),
      warnings,
    },
  )
}

function judge(claim: Claim, question: ApplierQuestion): Judgement {
  const { own, live, drifts } = question
  const mine = drifts.filter(
    ({ id }) =>
      claim.objects.has(getResourceKey(id)) || live.get(getResourceKey(id))?.state !== 'present',
  )
  return getApplierKind(claim.tool).judge({
    claim,
    title: formatClaimTitle(claim),
    own: claim.wanted.map((wanted) => ({
      wanted,
      state: own.get(getResourceKey(wanted.id)) ?? NOT_ANSWERED,
    })),
    fields: mine.map((drift) => ({
      drift,
      live: getLiveObject(live.get(getResourceKey(drift.id))),
    })),
    byHand: formatKubectlApply(question),
    folder: formatPathWord(question.packagePath),
  })
}

// A missing answer does not mean absent.
const NOT_ANSWERED: LiveState = {
  state: 'unreadable',
  failure: convertToFailure(
    new Error('the cluster adapter returned no answer for a requested object'),
  ),
}

function getLiveObject(state: LiveState | undefined): JsonObject | undefined {
  return state?.state === 'present' ? state.object : undefined
}

/**
 * Two syncers of one object undo each other; several of one package are at least worth a warning.
 */
function describeManyClaims(claims: readonly Claim[]): Phrase[] {
  if (claims.length < 2) return []
  const all = listPhrases(
    claims.map(
      (claim) => phrase`${formatClaimTitle(claim)} (${formatObjectCount(claim.objects.size)})`,
    ),
  )
  const counts = new Map<string, number>()
  for (const key of claims.flatMap((claim) => [...claim.objects]))
    counts.set(key, (counts.get(key) ?? 0) + 1)
  const shared = [...counts.values()].filter((count) => count > 1).length
  const fight =
    shared === 0
      ? ''
      : `; ${shared} of them ${shared === 1 ? 'has' : 'have'} more than one syncer, which may undo each other`
  return [phrase`several syncers apply this package: ${all}${[fight]}`]
}

function formatObjectCount(count: number): Phrase {
  return [`${count} ${count === 1 ? 'object' : 'objects'}`]
}

function judgeByManager(question: ApplierQuestion): Applier {
  const { live, syncer } = question
  if (syncer === undefined) return judgeByNobody(question)
  const { manager } = syncer
  const title = phrase`field manager ${manager}`
  const names = findManagerNames(manager)
  const command = formatKubectlApply(question)
  if (names !== undefined && names.repeats !== 'none') {
    const sentence = phrase`${manager} applied the package, which is the name of ${[names.repeats]}, and no object says which one: cannot tell whether it applies again`
    return createApplier(title, {
      restores: 'unknown',
      revertsUnasked: 'unknown',
      sentence,
      command,
      warnings: [],
    })
  }
  const how = manager.startsWith('kubectl')
    ? phrase`kubectl (${manager})`
    : phrase`kubectl apply as ${manager}`
  return createApplier(title, {
    restores: 'when-told',
    revertsUnasked: live.size === 0 ? 'unknown' : 'no',
    sentence: phrase`the package was applied with ${how}, and no syncer in the cluster applies it: apply it again after the merge`,
    command,
    warnings: [],
  })
}

function judgeByNobody(question: ApplierQuestion): Applier {
  const states = [...question.live.values()]
  const unread = states.flatMap((state) => (state.state === 'unreadable' ? [state.failure] : []))
  const [failure] = unread
  const command = formatKubectlApply(question)
  if (failure !== undefined) {
    const sentence = phrase`the syncer of the package is unknown: ${[`${unread.length} of ${states.length}`]} objects could not be read (${failure.code}: ${failure.why})`
    return createApplier(['unknown'], {
      restores: 'unknown',
      revertsUnasked: 'unknown',
      sentence,
      command: undefined,
      warnings: [],
    })
  }
  if (!states.some(({ state }) => state === 'present')) {
    const sentence: Phrase = ['none of the objects is in the cluster, so the syncer is unknown']
    return createApplier(['unknown'], {
      restores: 'unknown',
      revertsUnasked: 'unknown',
      sentence,
      command,
      warnings: [],
    })
  }
  const present = states.flatMap((state) =>
    state.state === 'present' ? [getManagedFields(state.object)] : [],
  )
  const sentence: Phrase = present.every(hasNoOwners)
    ? ['the objects do not show who applied them: apply the package after the merge']
    : [
        'no syncer applied the existing objects: merging changes nothing in the cluster until the package is applied',
      ]
  return createApplier(['nobody'], {
    restores: 'never',
    revertsUnasked: 'no',
    sentence,
    command,
    warnings: [],
  })
}

const MOST_FILES = 20

/**
 * Under the syncer's name, so that it owns the fields, and with force, because the writers of the
 * drift own them now. The command names the folder if kubectl reads nothing else in it, else the
 * files; `render` prints the objects if there are too many files, or some object is in none.
 */
function formatKubectlApply(question: ApplierQuestion): string | undefined {
  const { packagePath, syncer } = question
  const input = applyInput(question)
  if (input === undefined) return undefined
  const how =
    syncer?.operation === 'Update'
      ? ''
      : ` --server-side --force-conflicts --field-manager=${quoteShellWord(syncer?.manager ?? 'kubectl')}`
  const command = `${input.before}kubectl apply${how} ${input.what}`
  // People cannot check or paste invisible characters.
  return [packagePath, command].some((text) => /\p{C}/u.test(text)) ? undefined : command
}

/** With the command before it; undefined if it does not fit on one line. */
function applyInput({
  packagePath,
  pipeline,
  files,
  otherFiles = false,
  render = RENDERED_BY_KPT,
}: ApplierQuestion): { readonly before: string; readonly what: string } | undefined {
  const folder = formatPathWord(packagePath)
  const { kubectl } = describeChoice(render)
  if (kubectl === 'none') return undefined
  if (typeof kubectl === 'object')
    return {
      before: '',
      what: `-k ${formatPathWord([packagePath, kubectl.kustomization].filter((part) => part !== '').join('/'))}`,
    }
  const rendered = kubectl === 'rendered files' && pipeline
  if (!rendered && packagePath !== '' && !otherFiles) return { before: '', what: `-R -f ${folder}` }
  if (files?.length === 0) return undefined
  if (files === undefined || files.length > MOST_FILES)
    return { before: `backporch render ${folder} -o unwrap | `, what: '-f -' }
  return {
    before: rendered ? `kpt fn render ${folder} && ` : '',
    what: files.map((path) => `-f ${formatPathWord(path)}`).join(' '),
  }
}

function formatPathWord(path: string): string {
  return path === '' ? '.' : quoteShellWord(path.startsWith('-') ? `./${path}` : path)
}

function findCommonValue<Value>([first, ...rest]: readonly Value[]): Value | undefined {
  return rest.every((value) => value === first) ? first : undefined
}

function createApplier(
  name: Phrase,
  { restores, revertsUnasked, sentence, command, warnings }: Judgement,
): Applier {
  const warning = joinPhrases(warnings, '; ')
  return {
    name: formatPhrase(name),
    restores,
    sentence: formatPhrase(sentence),
    command,
    warning: warnings.length === 0 ? undefined : formatPhrase(warning),
    revertsUnasked,
    phrases: { sentence, warning },
  }
}
