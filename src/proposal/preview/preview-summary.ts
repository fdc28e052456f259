import { formatMarkdownCell, formatMarkdownProse } from '@backporch/kyaml/markdown'
import { RISK_RULES } from '../../drift/risk/risk.ts'
import type { Preview, PreviewChange } from '../../record/documents/preview.ts'
import { getWorstRisk } from '../text/proposal-subject.ts'
import { count, formatClusterCell, formatRiskWord } from '../text/words.ts'
import { countLive, countPreviewObjects } from './preview-groups.ts'

export function formatPreviewSummary(preview: Preview): string {
  const changing = preview.items.filter(({ state }) => state === 'changes')
  const failed = preview.items.filter(({ state }) => state === 'failed').length
  const broken = failed === 0 ? '' : ` ${count(failed, 'unit')} could not be built.`
  if (changing.length === 0) {
    const why =
      preview.edited.length === 0
        ? 'it edits no file'
        : preview.items.length === 0
          ? 'no unit is built from the files that it edits'
          : 'what is built of the units stays the same'
    return failed === 0
      ? `**Merging changes nothing in the clusters**: ${why}.`
      : `**The effect of merging is unknown.**${broken}`
  }
  const clusters = new Set(changing.map(({ cluster }) => cluster)).size
  const moved = new Set(changing.map((unit) => unit.package))
  const still = new Set(
    preview.items.flatMap((unit) =>
      unit.state === 'same' && !moved.has(unit.package) ? [unit.package] : [],
    ),
  )
  const same =
    still.size === 0
      ? ''
      : ` ${formatNames(still)} ${still.size === 1 ? 'reads an edited file, and does not change' : 'read edited files, and do not change'}.`
  const what = `${count(countPreviewObjects(changing), 'object')} in ${count(clusters, 'cluster')}`
  return `**Merging changes ${what}**: ${formatNames(moved)}.${same} Highest risk ${formatRiskReasons(listPreviewChanges(preview))}.${broken}`
}

const NAMES_SHOWN = 6

function formatNames(paths: ReadonlySet<string>): string {
  const names = [...paths].slice(0, NAMES_SHOWN).map((path) => formatMarkdownCell(path || '.', 100))
  const more = paths.size - names.length
  const last = more > 0 ? `${more} more` : names.pop()
  return names.length === 0 ? `${last}` : `${names.join(', ')} and ${last}`
}

function formatRiskReasons(changes: readonly PreviewChange[]): string {
  const risk = getWorstRisk(changes)
  const codes = [
    ...new Set(changes.filter((change) => change.risk === risk).map(({ reason }) => reason)),
  ]
  const known = codes.slice(0, 2).map((code) => describeRiskReason(code))
  return `${formatRiskWord(risk)}: ${known.join('; ')}${codes.length > 2 ? ` and ${count(codes.length - 2, 'more reason')}` : ''}`
}

/** Drift has the sentences about whole objects. */
function describeRiskReason(code: string): string {
  if (code === 'OBJ-MISSING') return 'an object is removed'
  if (code === 'OBJ-UNEXPECTED') return 'an object is added'
  const rule = RISK_RULES.find((each) => each.code === code)
  return rule === undefined
    ? formatMarkdownCell(code, 40)
    : `${rule.why} (${formatMarkdownCell(code, 40)})`
}

export function formatLiveLines(preview: Preview): string[] {
  const changes = listPreviewChanges(preview)
  if (changes.length === 0) return []
  const { before, after, other, unknown } = countLive(changes)
  const parts = [
    ...(after === 0
      ? []
      : [
          after === changes.length
            ? 'all of it is live already'
            : `${formatAlreadyNames(changes)} live already`,
        ]),
    ...(other === 0
      ? []
      : [
          `${count(other, 'change')} ${other === 1 ? 'is' : 'are'} about a field or object that drifted`,
        ]),
    ...(before === 0
      ? []
      : [`${count(before, 'change')} ${before === 1 ? 'is' : 'are'} not live yet`]),
    ...(unknown === 0 ? [] : [`of ${count(unknown, 'change')} the live state is unknown`]),
  ]
  const lost = preview.clusters.flatMap(({ name, failure }) =>
    failure === undefined || preview.head.fork ? [] : [{ name, failure }],
  )
  return [
    `**Live today:** ${parts.join('; ')}.`,
    ...lost
      .slice(0, 5)
      .map(
        ({ name, failure }) =>
          `**The live state of ${formatClusterCell(name)} is unknown** (${formatMarkdownCell(failure.code, 20)}): ${formatMarkdownProse(failure.why, 300)}. ${formatMarkdownProse(failure.remedy, 300)}.`,
      ),
    ...(lost.length > 5
      ? [`The live state of ${count(lost.length - 5, 'more cluster')} is unknown.`]
      : []),
  ]
}

function formatAlreadyNames(changes: readonly PreviewChange[]): string {
  const there = changes.filter(({ live }) => live === 'after')
  const fields = [...new Set(there.map(({ path }) => /\.([A-Za-z]+)$/.exec(path ?? '')?.[1]))]
  const [only] = fields
  const all = changes.filter(
    ({ path }) => only !== undefined && path?.endsWith(`.${only}`) === true,
  )
  return fields.length === 1 && only !== undefined && all.length === there.length
    ? `the ${only} is`
    : `${count(there.length, 'change')} ${there.length === 1 ? 'is' : 'are'}`
}

export function listPreviewStates(preview: Preview): string[] {
  const { head, merge, policies } = preview
  return [
    ...(head.fork
      ? [
          '**From a fork:** no program, image or module that it names was run. A unit that needs one is not built. No cluster was read.',
        ]
      : []),
    ...(merge.why === undefined
      ? []
      : [
          `**Not merged:** the files of the head itself are compared, because ${formatMarkdownProse(merge.why, 300)}.`,
        ]),
    ...(merge.conflicts.length === 0
      ? []
      : [
          `**Conflicts:** ${merge.conflicts
            .slice(0, 5)
            .map((path) => formatMarkdownCell(path))
            .join(
              ', ',
            )}${merge.conflicts.length > 5 ? ` and ${merge.conflicts.length - 5} more` : ''} changed on both sides; the files of the head are compared.`,
        ]),
    ...(policies
      ? ['**Policies change:** this preview uses the policies of the base branch.']
      : []),
    ...formatElsewhereLines(preview),
  ]
}

function formatElsewhereLines({ elsewhere }: Preview): string[] {
  if (elsewhere.length === 0) return []
  const names = formatNames(new Set(elsewhere.map(({ name }) => name)))
  const verbs = elsewhere.length === 1 ? ['reads', 'is'] : ['read', 'are']
  return [
    `**Not compared:** ${names} ${verbs[0]} edited files too, and ${verbs[1]} in none of these clusters.`,
  ]
}

export function listPreviewChanges({ items }: Preview): readonly PreviewChange[] {
  return items.flatMap(({ changes }) => changes)
}
