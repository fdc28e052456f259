/** Writes the tables of the guides that are the program's own: `node docs/guides/write-tables.ts`. A test holds them to the code. */
import { readFileSync, writeFileSync } from 'node:fs'
import {
  getDeclaration,
  METRICS,
  type MetricName,
  PROCESS_METRICS,
} from '../../src/adapters/metrics/metric-table.ts'
import { STATUS_COLUMNS } from '../../src/cli/commands/status.ts'
import { ACTOR_CLASSES } from '../../src/drift/attribute/actor-classes.ts'
import { RISK_RULES } from '../../src/drift/risk/risk.ts'
import { COMMANDS } from '../../src/proposal/text/comment-command.ts'
import { RISK_EXAMPLES, type RiskExample } from '../../test/fakes/risk-examples.ts'
import { HAND_EDITS } from '../../test/helm/hand-edits.ts'
import { describeOutcome, EDIT_KINDS, type EditKind, KINDS } from '../../test/sources/edit-kinds.ts'
import { type OriginOutcome, VALUE_ORIGINS } from '../../test/sources/value-origins.ts'

const [BEGIN, END] = ['<!-- table -->\n', '<!-- end of table -->']

/** Text of each guide, by its path from the root, from what it says now. */
export const GUIDES = {
  'src/sources/helm/README.md': editTable,
  'src/sources/kustomize/README.md': originTable,
  'docs/guides/monitoring.md': metricTable,
  'docs/guides/pull-request-commands.md': commandTable,
  'docs/guides/rendering.md': kindTable,
  'docs/guides/risk.md': riskTable,
  'docs/guides/selecting-and-watching.md': columnTable,
  'docs/guides/who-did-it.md': classTable,
} as const

export function guideText(name: keyof typeof GUIDES): string {
  const text = readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (begin === -1 || end < begin) throw new TypeError(`${name} has no place for its table`)
  return `${text.slice(0, begin + BEGIN.length)}${GUIDES[name]()}${text.slice(end)}`
}

function editTable(): string {
  const rows = HAND_EDITS.map(({ name, outcome }) => {
    if ('refused' in outcome)
      return `| ${name} | refused | ${outcome.refused.why.replaceAll('charts/storefront/', '')} |`
    const { file = 'production.yaml', lines } = outcome
    const shown = lines.slice(0, 4).map((line) => `\`${line}\``)
    const more = lines.length > 4 ? `<br>and ${lines.length - 4} more` : ''
    return `| ${name} | \`${file.replace('charts/storefront/', '')}\` | ${shown.join('<br>')}${more} |`
  })
  return ['| hand edit | adopted in | edit, or why not |', '|---|---|---|', ...rows, ''].join('\n')
}

function kindTable(): string {
  const kinds = Object.keys(KINDS) as readonly EditKind[]
  const rows = Object.entries(EDIT_KINDS).map(
    ([row, outcomes]) =>
      `| ${row} | ${kinds.map((kind) => describeOutcome(outcomes[kind])).join(' | ')} |`,
  )
  const head = `| applied by | ${kinds.map((kind) => KINDS[kind]).join(' | ')} |`
  return [head, `|${'---|'.repeat(kinds.length + 1)}`, ...rows, ''].join('\n')
}

function originTable(): string {
  const outcomes: { readonly [name: string]: OriginOutcome } = VALUE_ORIGINS
  const rows = Object.entries(outcomes).map(([name, outcome]) =>
    'why' in outcome
      ? `| ${name} | refused | \`${outcome.where}\`: ${outcome.why} |`
      : `| ${name} | ${outcome.map((file) => `\`${file}\``).join(', ')} | |`,
  )
  return ['| the value comes from | adopted in | or why not |', '|---|---|---|', ...rows, ''].join(
    '\n',
  )
}

function riskTable(): string {
  const rows = RISK_RULES.map(({ code, risk, why }) => {
    const has = RISK_EXAMPLES[code]?.has ?? []
    return `| ${risk} | \`${code}\` | ${why} | ${has.slice(0, 3).map(example).join('<br>')} |`
  })
  return ['| risk | code | rule | for example |', '|---|---|---|---|', ...rows, ''].join('\n')
}

function example({ kind, change, path, git, live }: RiskExample): string {
  const name = kind.slice(kind.indexOf('/') + 1)
  const isPlain = (value: unknown): boolean => typeof value !== 'object'
  const values =
    change === 'modified' && isPlain(git) && isPlain(live)
      ? ` \`${String(git)}\` to \`${String(live)}\``
      : ''
  const whole = change === 'added' && typeof live === 'object' ? JSON.stringify(live) : ''
  const shown = whole === '' || whole.length > 90 ? '' : ` as \`${whole.replaceAll('|', '\\|')}\``
  return `${name} ${path === '' ? change : `\`${path.replaceAll('|', '\\|')}\`${change === 'modified' ? values : ` ${change}${shown}`}`}`
}

function commandTable(): string {
  const rows = Object.values(COMMANDS).map(({ example, does }) => `| \`${example}\` | ${does} |`)
  return ['| command | effect |', '|---|---|', ...rows, ''].join('\n')
}

function metricTable(): string {
  const rows = (Object.keys(METRICS) as MetricName[]).map((name) => {
    const { type, labels, help } = getDeclaration(name)
    return `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help.replace(/\.$/, '')} |`
  })
  const process = [...PROCESS_METRICS].map((name) => `\`${name}\``).join(', ')
  return [
    '| metric | type | labels | meaning |',
    '|---|---|---|---|',
    ...rows,
    '',
    `Of the process: ${process}.`,
    '',
  ].join('\n')
}

function columnTable(): string {
  const rows = STATUS_COLUMNS.map(
    ({ name, wide, about }) => `| ${name} | ${wide === true ? '`-o wide`' : 'yes'} | ${about} |`,
  )
  return ['| column of `status` | printed | meaning |', '|---|---|---|', ...rows, ''].join('\n')
}

function classTable(): string {
  const rows = ACTOR_CLASSES.map(({ class: kind, managers, subresource, what }) => {
    const names = managers.map((name) => `\`${name}\``).join(', ')
    return `| ${kind.replace('-', ' ')} | ${names}${subresource === undefined ? '' : ` on \`${subresource}\``} | ${what} |`
  })
  return ['| class | field manager | writer |', '|---|---|---|', ...rows, ''].join('\n')
}

if (import.meta.main) {
  for (const name of Object.keys(GUIDES) as (keyof typeof GUIDES)[])
    writeFileSync(new URL(`../../${name}`, import.meta.url), guideText(name))
}
