/** The dashboard: whatever is in it, it fits, does nothing, and only its own boxes can be ticked. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isQuiet } from '../../src/proposal/text/dashboard-subject.ts'
import { formatDashboard } from '../../src/proposal/text/dashboard-text.ts'
import {
  formatDashboardBox,
  getDriftId,
  readDashboardTicks,
} from '../../src/proposal/text/dashboard-ticks.ts'
import { GITEA, GITHUB, PLAIN } from '../fakes/dialects.ts'
import { HOSTILE_TEXTS } from '../fakes/record-samples.ts'
import {
  DASHBOARD,
  dashboardOfText,
  QUIET_DASHBOARD,
} from '../golden/proposals/dashboard-samples.ts'
import { HOSTILE } from '../golden/proposals/samples.ts'
import { actsOfMarkdown } from '../markdown/read-markdown.ts'
import * as fc from '../seeds/fast-check.ts'

const PIECES = [
  '`',
  '```',
  '\\',
  '|',
  '\n',
  '<!--',
  '-->',
  '@a',
  '#1',
  '](',
  '- [x] ',
  '<!-- backporch:open=0123456789abcdef -->',
  '/approve',
  'a',
]
const word = fc.oneof(
  fc.constantFrom(...HOSTILE, ...HOSTILE_TEXTS.filter((text) => text.length < 1_000)),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 40 }),
)
const ID = '0123456789abcdef'

function ticked(body: string): readonly [string[], string[]] {
  const { open, raise } = readDashboardTicks(body)
  return [[...open], [...raise]]
}

test('a dashboard of any content is inert, fits the limit, and has no ticked box', () => {
  fc.assert(
    fc.property(
      word,
      fc.constantFrom(GITHUB, GITEA, PLAIN),
      fc.constantFrom(900, 4_000, 58_000),
      (text, dialect, bodyLimit) => {
        const subject = { ...dashboardOfText(text), dialect: { ...dialect, bodyLimit } }
        const { body } = formatDashboard(subject)
        assert.ok(body.length <= bodyLimit, `${body.length} of ${bodyLimit}`)
        assert.deepEqual(actsOfMarkdown(body, ['https://', 'http://']), [])
        assert.deepEqual(ticked(body), [[], []])
        assert.equal(
          formatDashboard({ ...dashboardOfText(text), dialect: subject.dialect }).body,
          body,
        )
      },
    ),
    { numRuns: 150 },
  )
})

test('reads boxes ticked in the browser, but not in code, in a quote or changed', () => {
  const { body } = formatDashboard(DASHBOARD)
  const [open, raise] = ticked(body.replaceAll('- [ ]', '- [x]'))
  assert.deepEqual([open.length, raise], [30, ['abcdef0123456789']])
  const box = formatDashboardBox('open', ID, 'x').replace('[ ]', '[X]')
  assert.deepEqual(ticked(box), [[ID], []])
  assert.deepEqual(ticked(`\`\`\`\n${box}\n\`\`\`\n`), [[], []])
  assert.deepEqual(ticked(`> ${box}`), [[], []])
  assert.deepEqual(ticked(`    ${box}`), [[], []])
  assert.deepEqual(ticked(box.replace(ID, ID.slice(1))), [[], []])
  assert.deepEqual(ticked(box.replace('open', 'adopt')), [[], []])
  const many = Array.from({ length: 2_000 }, (_each, index) =>
    box.replace(ID, index.toString(16).padStart(16, '0')),
  ).join('\n')
  assert.equal(ticked(many)[0].length, 500)
})

test('binds a box to a fingerprint, and has none without', () => {
  assert.equal(getDriftId(`sha256:${ID}${'f'.repeat(48)}`), ID)
  assert.equal(getDriftId(''), undefined)
  assert.equal(formatDashboardBox('open', undefined, 'x'), '- x')
})

test('is quiet when nothing waits for a person, also with stale ignore rules', () => {
  assert.deepEqual([isQuiet(DASHBOARD), isQuiet(QUIET_DASHBOARD)], [false, true])
  assert.match(
    formatDashboard(QUIET_DASHBOARD).body,
    /No drift needs attention\. Some ignore rules do/,
  )
  assert.match(
    formatDashboard({ ...QUIET_DASHBOARD, staleRules: [] }).body,
    /Nothing needs attention/,
  )
})
