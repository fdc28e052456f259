/**
 * Writes the texts of proposals as they are now. Look at what changed before you commit it: these are what people read.
 *
 * node test/golden/proposals/write.ts
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { formatDashboard } from '../../../src/proposal/text/dashboard-text.ts'
import { formatMassText } from '../../../src/proposal/text/mass-text.ts'
import { formatOnboardingText } from '../../../src/proposal/text/onboarding-text.ts'
import { type Outcome, createOutcomeComment } from '../../../src/proposal/text/outcome-comment.ts'
import { formatProposalText } from '../../../src/proposal/text/proposal-text.ts'
import { reportText } from '../../../src/proposal/text/report-text.ts'
import { formatStormText } from '../../../src/proposal/text/storm-text.ts'
import { GITEA, GITHUB, PLAIN } from '../../fakes/dialects.ts'
import { DASHBOARD, dashboardOfText, QUIET_DASHBOARD } from './dashboard-samples.ts'
import { ONBOARDING, ONBOARDING_EDITED } from './onboarding-samples.ts'
import { HOSTILE, MASS, PROPOSALS, STORM } from './samples.ts'

export const OUTCOMES: readonly Outcome[] = [
  { kind: 'declined', silentUntil: '2026-09-20T14:31:00Z', critical: false },
  { kind: 'declined', silentUntil: '2026-08-22T14:31:00Z', critical: true },
  { kind: 'healed', at: '2026-08-21T14:31:00Z' },
  { kind: 'resolved-by-git', commit: 'a1b2c3d'.padEnd(40, '0'), url: 'https://github.example/acme/deploy/commit/a1b2c3d' },
  { kind: 'superseded', at: '2026-08-21T14:31:00Z' },
  { kind: 'verified', at: '2026-08-21T14:41:00Z', plan: 'Restore' },
  { kind: 'not-restored', at: '2026-08-21T14:41:00Z', why: 'Flux Kustomization flux-system/apps is suspended.' },
  { kind: 'edited', author: 'alice', why: 'this commits content is not what backporch writes: its message differs' },
  { kind: 'moved-to-mass', label: '#421', url: 'https://github.example/acme/deploy/pull/421', clusters: 37 },
  ...HOSTILE.flatMap((text): Outcome[] => [
    { kind: 'edited', author: text, why: 'this commits content is not what backporch writes: its message differs' },
    { kind: 'moved-to-mass', label: text, url: text, clusters: 3 },
    { kind: 'not-restored', at: text, why: text },
  ]),
]

const DIALECTS = { github: GITHUB, gitea: GITEA, plain: PLAIN }

/** Every golden file: its name and its text. */
export function goldenTexts(): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  for (const [forge, dialect] of Object.entries(DIALECTS)) {
    for (const [name, subject] of Object.entries(PROPOSALS)) files.set(`${name}.${forge}.md`, whole(formatProposalText({ ...subject, dialect })))
    files.set(`mass.${forge}.md`, whole(formatMassText({ ...MASS, dialect })))
    files.set(`onboarding.${forge}.md`, whole(formatOnboardingText({ ...ONBOARDING, dialect })))
    files.set(`onboarding-edited.${forge}.md`, whole(formatOnboardingText({ ...ONBOARDING_EDITED, dialect })))
    files.set(`dashboard.${forge}.md`, whole(formatDashboard({ ...DASHBOARD, dialect })))
    files.set(`storm.${forge}.md`, whole(formatStormText({ ...STORM, dialect })))
  }
  for (const name of ['four-hundred-and-twelve-objects', 'hostile']) {
    const subject = PROPOSALS[name]
    if (subject !== undefined) files.set(`${name}.report.md`, reportText(subject.record))
  }
  files.set('dashboard-quiet.github.md', whole(formatDashboard(QUIET_DASHBOARD)))
  files.set('dashboard-hostile.github.md', whole(formatDashboard(dashboardOfText(HOSTILE.join(' ')))))
  files.set('outcomes.md', OUTCOMES.map((outcome) => createOutcomeComment(outcome).body).join('\n---\n\n'))
  return files
}

/** Title and labels stand in a comment above the body. */
function whole({ title, body, labels, draft }: { title: string; body: string; labels: readonly string[]; draft?: boolean }): string {
  return `<!--\ntitle: ${title.replaceAll('--', '\\-\\-')}\nlabels: ${labels.join(' ')}${draft === true ? '\ndraft' : ''}\n-->\n\n${body}`
}

if (import.meta.main) {
  const folder = new URL('.', import.meta.url)
  for (const name of readdirSync(folder)) if (name.endsWith('.md')) rmSync(new URL(name, folder))
  for (const [name, text] of goldenTexts()) writeFileSync(new URL(name, folder), text)
}
