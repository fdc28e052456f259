/**
 * Runs small reproductions of public bug reports of this field on a real API server with its controllers and a real Gitea. It is run by
 * hand, once for each release candidate, and prints one row for each: what is right, what Backporch said before and says now.
 *
 *   node test/reports/run.ts [--details] [CASE...]
 *
 * CASE is the beginning of a name: `01`, or `45-ci`. The exit code is 1 where a case fails, and 3 where one could not run: that is no pass.
 */
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { startControlPlane } from '../controlplane/start-control-plane.ts'
import { openReviewWorld } from '../e2e/review-world.ts'
import { type Lifetime, openWorld } from '../e2e/world.ts'
import type { Gitea } from '../gitea/gitea.ts'
import { sharedGitea } from '../gitea/shared-gitea.ts'
import { Lab, type ReportCase } from './lab.ts'

type Verdict = 'PASS' | 'FAIL' | 'not run'

interface Row {
  readonly name: string
  readonly reported: Pick<ReportCase, 'right' | 'before'>
  readonly now: string
  readonly verdict: Verdict
}

/** Of what is shown in the table: a failure is told as a whole above it. */
const NOW_CHARACTERS = { PASS: 160, FAIL: 400, 'not run': 400 } as const
const KPTFILE = 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: pkg\n'
const { values: flags, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { details: { type: 'boolean', default: false } },
})
process.env['GOGC'] ??= '400'

const folder = fileURLToPath(new URL('cases', import.meta.url))
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.replace(/\.ts$/, ''))
  .filter((name) => words.length === 0 || words.some((word) => name.startsWith(word)))
  .sort()
if (names.length === 0) {
  console.error('no case has a name that begins so')
  process.exit(2)
}
const plane = await startControlPlane({ controllerManager: true })
if (plane.state === 'unavailable') {
  console.error(plane.why)
  process.exit(3)
}
const gitea = await sharedGitea()
try {
  const rows: Row[] = []
  for (const name of names) {
    const { reported }: { reported: ReportCase } = await import(`./cases/${name}.ts`)
    const row = await runCase(name, reported, plane)
    console.error(`${row.verdict.padEnd(7)} ${name}`)
    rows.push(row)
  }
  console.log(
    `| case | right | before | now | |\n|---|---|---|---|---|\n${rows.map(toMarkdown).join('\n')}`,
  )
  const count = (verdict: Verdict): number => rows.filter((row) => row.verdict === verdict).length
  console.log(`\n${count('PASS')} pass, ${count('FAIL')} fail, ${count('not run')} not run`)
  process.exitCode = count('FAIL') > 0 ? 1 : count('not run') > 0 ? 3 : 0
} finally {
  if (gitea.state === 'ready') await gitea.stop()
  await plane.stop()
}
process.exit()

async function runCase(name: string, reported: ReportCase, cluster: ControlPlane): Promise<Row> {
  if (reported.gitea === true && gitea.state === 'unavailable')
    return { name, reported, now: gitea.why, verdict: 'not run' }
  const ends: (() => unknown)[] = []
  const lifetime: Lifetime = { after: (end) => void ends.push(end as () => unknown) }
  const lab = await openLab(name, reported, lifetime, cluster)
  try {
    await reported.run(lab)
  } catch (error) {
    lab.check('runs to its end', false, error instanceof Error ? error.message : String(error))
  } finally {
    await cluster.kubectl([
      'delete',
      'namespace',
      lab.namespace,
      '--wait=false',
      '--ignore-not-found',
    ])
    for (const end of ends.toReversed()) await end()
  }
  const wrong = lab.checks.filter(({ isRight }) => !isRight)
  const isRight = wrong.length === 0 && lab.checks.length > 0
  if (flags.details || !isRight) printDetails(name, lab, flags.details)
  const said = isRight
    ? lab.checks.map(({ seen }) => seen)
    : wrong.map(({ label, seen }) => `${label}: ${seen}`)
  return { name, reported, now: [...new Set(said)].join('; '), verdict: isRight ? 'PASS' : 'FAIL' }
}

async function openLab(
  name: string,
  reported: ReportCase,
  lifetime: Lifetime,
  cluster: ControlPlane,
): Promise<Lab> {
  const namespace = await cluster.namespace(`report${name.slice(0, 2)}`)
  const files = { 'pkg/Kptfile': KPTFILE }
  if (reported.gitea !== true)
    return new Lab(cluster, namespace, await openWorld(lifetime, cluster, files), undefined)
  const review = await openReviewWorld(lifetime, cluster, gitea as Gitea, files)
  return new Lab(cluster, namespace, review.world, review)
}

function printDetails(name: string, lab: Lab, isWhole: boolean): void {
  console.error(`== ${name}`)
  for (const { label, isRight, seen } of lab.checks)
    console.error(`  ${isRight ? 'ok   ' : 'wrong'} ${label}: ${seen}`)
  if (!isWhole) return
  for (const { command, code, stdout, stderr } of lab.world.calls)
    console.error(`  $ ${command}\n${`${stdout}${stderr}exit ${code}`.replace(/^/gm, '    ')}`)
}

function toMarkdown({ name, reported, now, verdict }: Row): string {
  const most = NOW_CHARACTERS[verdict]
  const cells = [
    name,
    reported.right,
    reported.before,
    now.length > most ? `${now.slice(0, most)}…` : now,
    verdict,
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
