import { formatMarkdownCell } from '@backporch/kyaml/markdown'
import { describeResourceId } from '@backporch/kyaml/resource'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import { getUnitName } from '../../record/unit-name.ts'
import { changeTable, formatKindTable, formatObjectDiff } from './change-table.ts'
import { formatWriterNote } from './proposal-footer.ts'
import {
  type NumberedChange,
  type ObjectChanges,
  rankChanges,
  rankObjects,
} from './proposal-subject.ts'
import { count, formatClusterCell, time } from './words.ts'

const BODY_OBJECTS = 200
/** A forge may cut a longer body. */
const BODY_CHARACTERS = 40_000
const ROWS = 20_000
/** UTF-16 code units of all diffs together. */
const DIFFS = 2_000_000
const DIFF_CHANGES = 100

/** By the record alone, before any request to a forge. */
export function wantsReport(record: DriftRecord): boolean {
  const { changes } = record.spec
  if (changes.length > BODY_OBJECTS) return true
  return reportText(record).length > BODY_CHARACTERS
}

/** Every change, riskiest first, then every diff. No links, because it outlives its branch. */
export function reportText(record: DriftRecord): string {
  const { unit, changes, began, observed, plan } = record.spec
  const objects = rankObjects(changes)
  const ranked = rankChanges(changes)
  const revision = unit.revision === undefined ? '' : `@${unit.revision}`
  const lines = [
    `# ${count(changes.length, 'difference')} in ${count(objects.length, 'object')} between git and cluster ${formatClusterCell(unit.cluster)}`,
    '',
    `Package ${formatMarkdownCell(`${getUnitName(unit)}${revision}`)} at ${formatMarkdownCell(unit.commit.slice(0, 7))} · first seen ${time(began)} · observed ${time(observed.at)} · plan ${plan}`,
    '',
    ...formatKindTable(objects),
    '## Changes',
    '',
    ...changeTable(ranked.slice(0, ROWS), undefined),
    ...(ranked.length > ROWS
      ? [`and ${count(ranked.length - ROWS, 'more change')}, see the record.`, '']
      : []),
    formatWriterNote(changes),
    '',
    '## Diffs, git (−) and the cluster (+)',
    '',
    ...formatDiffs(objects),
  ]
  return `${lines.join('\n').trimEnd()}\n`
}

function formatDiffs(objects: readonly ObjectChanges[]): string[] {
  const lines: string[] = []
  let size = 0
  for (const [index, object] of objects.entries()) {
    const block = formatObjectDiff(object, DIFF_CHANGES)
    size += block.length
    if (size > DIFFS)
      return [...lines, `and ${count(objects.length - index, 'more object')}, see the record.`]
    lines.push(
      `### ${formatNumbers(object.changes)} ${formatMarkdownCell(describeResourceId(object.ref), 120)}`,
      '',
      block,
      '',
    )
  }
  return lines
}

function formatNumbers(changes: readonly NumberedChange[]): string {
  const [first] = changes
  return changes.length === 1
    ? `${first?.number ?? 0}`
    : `${first?.number ?? 0} to ${changes.at(-1)?.number ?? 0}`
}
