import { CONFIGURE_BRANCH } from '@backporch/git-store/ref-name'
import { convertToOneLine } from '@backporch/kyaml/text'
import { CONFIGURE_REF } from '../../plan/turn/plan-onboarding.ts'
import type { OnboardingSubject } from '../../proposal/text/onboarding-text.ts'
import { formatOnboardingText, splitByDigest } from '../../proposal/text/onboarding-text.ts'
import { getWorstRisk } from '../../proposal/text/proposal-subject.ts'
import type { Onboarded, Onboarding } from '../../reconcile/onboard/onboard.ts'
import { API_VERSION } from '../../record/documents/document.ts'
import type { Printer } from './printer.ts'
import { formatShellWord, publishCommand, type RepositoryLocation } from './published-lines.ts'
import { count } from './ranked-changes.ts'
import { alignCells, computeColumnWidths } from './table.ts'

/** A dry run also prints the files and the text of the proposal. */
export function printOnboarding(
  { subject, files }: Onboarding,
  dryRun: boolean,
  { cli }: Printer,
): void {
  if (subject === undefined) return
  const {
    dialect,
    syncers,
    packages,
    clusters,
    elsewhere,
    autoscalers,
    imported,
    notImported,
    notObserved,
    expected,
    rights,
  } = subject
  const write = (line: string): unknown => cli.stdout.write(`${convertToOneLine(line, 1_000)}\n`)
  const mute = syncers.length > 2 ? ` and ${syncers.length - 2} more` : ''
  write(
    [
      `forge ${dialect.name}`,
      `syncer ${
        syncers.length === 0
          ? 'unknown'
          : syncers
              .slice(0, 2)
              .map(({ name }) => name)
              .join(', ')
      }${mute}`,
      `${count(packages, 'package')}${elsewhere === 0 ? '' : ` (${elsewhere} more without an object there)`} in ${clusters.join(', ')}`,
      ...autoscalers.map(({ word, count: number }) => count(number, word)),
      `${count(imported, 'ignore rule')} taken over${notImported.length === 0 ? '' : `, ${notImported.length} not`}`,
    ].join(' · '),
  )
  for (const line of formatSourceLines(subject.sources)) write(line)
  for (const { name, sentence, units } of syncers.slice(0, 5)) {
    const text = sentence.map((part) => (typeof part === 'string' ? part : part.name)).join('')
    write(`  after a merge: ${text} (${count(units, 'package')}, ${name})`)
  }
  for (const { source, rule, why } of notImported.slice(0, dryRun ? 1_000 : 10))
    write(`  not taken over: ${source}: ${rule}: ${why}`)
  for (const sentence of notObserved) write(`  not checked: ${sentence}`)
  if (expected === undefined)
    for (const line of subject.policyProblem.split('\n'))
      write(`  the policy of the branch: ${line.trim()}`)
  else {
    const risky = (risk: string): number =>
      expected.proposals.filter(({ changes }) => getWorstRisk(changes) === risk).length
    const { today, waiting } = splitByDigest(expected.proposals, subject.limits)
    const now = today.filter(({ mode }) => mode === 'Propose').length
    write(
      `would open with mode Propose today: ${count(today.length, 'pull request')} (${risky('critical')} critical, ${risky('high')} high)${waiting.length === 0 ? '' : ` · ${waiting.length} of low risk ${waiting.length === 1 ? 'waits' : 'wait'} for the digest`} · with the current policy: ${now} · ${count(expected.muted.fields, 'difference')} muted`,
    )
    for (const { packageName, code, why } of expected.failed)
      write(`  could not be observed: ${packageName}: ${code}: ${why}`)
  }
  write(
    `the account needs: ${rights.map(({ name }) => name).join(', ')} · rules for the branches: backporch init --print-ruleset`,
  )
  if (!dryRun) return
  for (const { path, text } of files)
    cli.stdout.write(`\n--- ${convertToOneLine(path)}\n${sanitizeLines(text)}`)
  const { title, body } = formatOnboardingText(subject)
  cli.stdout.write(`\n--- proposal: ${convertToOneLine(title)}\n${sanitizeLines(body)}`)
}

function formatSourceLines(sources: OnboardingSubject['sources']): readonly string[] {
  if (sources.length === 0) return []
  const cells = sources.map(({ title, path, cluster, objects, differences }) =>
    [title, path || '.', cluster, String(objects), String(differences)].map((text) =>
      convertToOneLine(text, 100),
    ),
  )
  const rows = [['SOURCE', 'PATH', 'CLUSTER', 'OBJECTS', 'DRIFT'], ...cells]
  const widths = computeColumnWidths(rows)
  return rows.map((row) => `  ${alignCells(row, widths, 3)}`)
}

function sanitizeLines(text: string): string {
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => `${convertToOneLine(line, Number.POSITIVE_INFINITY)}\n`)
    .join('')
}

export function printOnboarded(
  done: Onboarded,
  location: RepositoryLocation,
  dryRun: boolean,
  printer: Printer,
): void {
  const { ok, quiet, cli } = printer
  const write = (line: string): unknown => cli.stdout.write(`${line}\n`)
  const { plan, updates, refused, view } = done
  const removed = updates.some(({ to }) => to === null)
  const from = location.kind === 'clone' ? ` from ${location.name}` : ''
  const unpublish = removed && !quiet ? publishCommand(updates, location) : undefined
  if (refused) return void write('nothing was written')
  switch (plan.kind) {
    case 'enrolled':
      write(
        `${ok} enrolled: ${view.baseBranch} has ${convertToOneLine(plan.where)}${removed ? `; the merged branch ${CONFIGURE_BRANCH} is removed${from}` : ''}`,
      )
      if (unpublish !== undefined) write(`  where origin has it: ${unpublish}`)
      if (!quiet) write('  next: backporch scan, by hand or in CI')
      return
    case 'declined': {
      const { label, decidedBy, decidedAt } = plan.proposal
      const who = decidedBy === undefined ? '' : ` by ${convertToOneLine(decidedBy, 60)}`
      write(
        `${convertToOneLine(label)} was closed${who}${decidedAt === undefined ? '' : ` at ${convertToOneLine(decidedAt, 40)}`}: not enrolled${removed ? `, and ${CONFIGURE_BRANCH} is removed${from}` : ''}`,
      )
      if (plan.editedBy !== undefined)
        write(
          `  ${CONFIGURE_BRANCH} has commits of ${convertToOneLine(plan.editedBy, 60)} and stays: backporch init --remove removes it`,
        )
      write('  to propose it again: backporch init --again')
      return
    }
    case 'remove':
      write(
        dryRun
          ? `would remove ${CONFIGURE_BRANCH}${from}`
          : `${ok} ${CONFIGURE_BRANCH} is removed${from}`,
      )
      if (unpublish !== undefined) write(`  where origin has it: ${unpublish}`)
      return
    case 'nothing-to-remove':
      write(`there is no branch ${CONFIGURE_BRANCH}: nothing to remove`)
      return
    case 'propose':
      printProposed(done, location, dryRun, printer)
  }
}

function printProposed(
  { plan, updates, opened, view, proposal }: Onboarded,
  location: RepositoryLocation,
  dryRun: boolean,
  { ok, quiet, cli }: Printer,
): void {
  const write = (line: string): unknown => cli.stdout.write(`${line}\n`)
  if (plan.kind !== 'propose') return
  if (dryRun) {
    const what =
      plan.push === undefined
        ? 'would leave the branch as it is'
        : `would ${location.kind === 'clone' ? `write to ${location.name}` : 'push'}${plan.push.from === null ? '' : ' again'}`
    return void write(
      `\n${what}: ${CONFIGURE_BRANCH}${proposal?.state === 'open' ? `, and update ${convertToOneLine(proposal.label)} if it changed` : ''}`,
    )
  }
  const edited =
    plan.editedBy === undefined
      ? ''
      : `; the branch was edited by ${convertToOneLine(plan.editedBy, 60)} and is left unchanged`
  if (opened === undefined) return
  if (opened.number !== undefined) {
    const verb = proposal?.state === 'open' ? 'is open' : 'is proposed'
    write(
      `${ok} ${CONFIGURE_BRANCH} ${verb}: ${convertToOneLine(opened.label)} ${convertToOneLine(opened.url, 500)}${edited}`,
    )
    if (!quiet)
      write(
        '  merge: enrolled · close: nothing changes · edit the policy on the branch, and backporch init counts again',
      )
    return
  }
  const base = formatShellWord(view.baseBranch)
  if (location.kind === 'clone') {
    const { git, name, origin } = location
    write(
      `${ok} ${updates.length === 0 ? `unchanged in ${name}` : `written to ${name}`}: ${CONFIGURE_BRANCH}${edited}`,
    )
    if (quiet) return
    write(`  review:  ${git} diff ${base}...${CONFIGURE_BRANCH}`)
    write(
      `  enrol:   ${git} switch ${base} && ${git} merge --no-ff --no-edit ${CONFIGURE_BRANCH}${origin ? ` && ${git} push origin ${base}` : ''}`,
    )
    write(`  decline: ${git} branch -D ${CONFIGURE_BRANCH}`)
    // An unchanged branch may have been rebuilt since it was published.
    const publish = publishCommand(
      updates.length === 0 ? [{ ref: CONFIGURE_REF, from: view.base, to: view.base }] : updates,
      location,
    )
    if (publish !== undefined) write(`  publish: ${publish}`)
    return
  }
  write(`${ok} ${CONFIGURE_BRANCH} is ${updates.length === 0 ? 'unchanged' : 'pushed'}${edited}`)
  if (quiet) return
  write(`  review:  git fetch origin ${CONFIGURE_BRANCH} && git diff HEAD...FETCH_HEAD`)
  write(`  enrol:   git switch ${base} && git merge --no-ff FETCH_HEAD && git push origin HEAD`)
  write(`  decline: git push origin --delete ${CONFIGURE_BRANCH}`)
}

export function buildOnboardedItem({
  plan,
  subject,
  files,
  updates,
  opened,
  refused,
  view,
}: Onboarded): object {
  const { expected } = subject ?? {}
  const late =
    subject === undefined || expected === undefined
      ? []
      : splitByDigest(expected.proposals, subject.limits).waiting
  const waiting = new Set(late)
  return {
    apiVersion: API_VERSION,
    kind: 'Onboarding',
    state: refused ? 'refused' : plan.kind,
    baseBranch: view.baseBranch,
    branch: CONFIGURE_BRANCH,
    ...('editedBy' in plan && plan.editedBy !== undefined ? { editedBy: plan.editedBy } : {}),
    written: updates.map(({ ref, to }) => ({ ref, commit: to })),
    ...(opened === undefined ? {} : { proposal: { label: opened.label, url: opened.url } }),
    ...(subject === undefined
      ? {}
      : {
          forge: subject.dialect.name,
          clusters: subject.clusters,
          packages: subject.packages,
          syncers: subject.syncers.map(({ name, units }) => ({ name, packages: units })),
          autoscalers: subject.autoscalers,
          ignoreRules: subject.imported,
          notImported: subject.notImported,
          notObserved: subject.notObserved,
          rights: subject.rights,
          files: files.map(({ path, text }) => ({ path, text })),
        }),
    ...(expected === undefined
      ? {}
      : {
          expect: {
            modes: expected.modes,
            muted: expected.muted.fields,
            failed: expected.failed,
            incomplete: expected.incomplete,
            proposals: expected.proposals.map((proposal) => ({
              package: proposal.packageName,
              cluster: proposal.cluster,
              changes: proposal.changes.length,
              risk: getWorstRisk(proposal.changes),
              mode: proposal.mode,
              ...(waiting.has(proposal) ? { waitsFor: 'digest' } : {}),
            })),
          },
        }),
  }
}
