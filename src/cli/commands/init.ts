import { createInterface } from 'node:readline/promises'
import { Failure } from '@backporch/kyaml/failure'
import { type Onboarded, type Onboarding, runOnboarding } from '../../reconcile/onboard/onboard.ts'
import { API_VERSION } from '../../record/documents/document.ts'
import type { CliContext, TurnContext } from '../context/cli-context.ts'
import type { INIT_FLAGS } from '../flags/command-flags.ts'
import type { ForgeOptions, ValuesOf } from '../flags/options.ts'
import { buildOnboardedItem, printOnboarded, printOnboarding } from '../print/print-onboarding.ts'
import { Printer } from '../print/printer.ts'
import { resolveRepositoryLocation } from '../print/published-lines.ts'
import { printList } from '../report/print-document.ts'
import { runWithSession, type SessionOptions } from '../session/turn-session.ts'

type InitOptions = SessionOptions & ForgeOptions & ValuesOf<typeof INIT_FLAGS>

export async function init(options: InitOptions, cli: TurnContext): Promise<number> {
  if (options.printRuleset === true) return printRuleset(options, cli)
  if (options.again === true && options.remove === true) throw createContradiction()
  return runWithSession(
    cli,
    options,
    { packages: [] },
    async ({ ports, request, progress, printer }) => {
      const dryRun = options.dryRun === true
      const location = await resolveRepositoryLocation(options, cli)
      let reported = false
      const ask = async (again: boolean): Promise<Onboarded> =>
        runOnboarding(
          ports,
          {
            // A named folder is one of the units; the packages are observed too.
            turn: {
              ...request,
              units: { ...request.units, packages: [] },
              mode: dryRun ? 'read' : 'apply',
            },
            again,
            remove: options.remove === true,
            confirm: async (onboarding) => {
              progress.end()
              reported = true
              // The answer to the second question confirms the proposal.
              return confirm(onboarding, options, printer, again && options.again !== true)
            },
          },
          cli.signal,
        )
      let done = await ask(options.again === true)
      progress.end()
      const declined = done.plan.kind === 'declined' && !dryRun
      if (declined && cli.stdin.isTTY === true && printer.isTable) {
        printOnboarded(done, location, dryRun, printer)
        if (!(await askQuestion('Propose it again? [y/N] ', false, cli))) return 0
        done = await ask(true)
        progress.end()
      }
      const list = {
        apiVersion: API_VERSION,
        kind: 'OnboardingList',
        items: [buildOnboardedItem(done)],
      }
      if (printList(list, printer)) return 0
      if (!reported && done.subject !== undefined) printOnboarding(done, dryRun, printer)
      printOnboarded(done, location, dryRun, printer)
      return 0
    },
  )
}

async function confirm(
  onboarding: Onboarding,
  options: InitOptions,
  printer: Printer,
  text: boolean,
): Promise<boolean> {
  const { plan } = onboarding
  const { cli } = printer
  if (printer.isTable && plan.kind === 'propose')
    printOnboarding(onboarding, options.dryRun === true, printer)
  if (options.yes === true || text) return true
  if (cli.stdin.isTTY !== true || !printer.isTable) {
    throw new Failure({
      code: 'BP2011',
      what:
        plan.kind === 'remove'
          ? 'removing drift/configure requires confirmation'
          : 'the onboarding proposal requires confirmation',
      why: 'there is no terminal to ask on',
      remedy: `give --yes: backporch init${plan.kind === 'remove' ? ' --remove' : ''} --yes (--dry-run shows what it would write)`,
    })
  }
  if (plan.kind !== 'remove')
    return askQuestion('Open the onboarding proposal drift/configure? [Y/n] ', true, cli)
  const whose = plan.editedBy === undefined ? '' : ', with commits that are not from backporch'
  return askQuestion(`Remove drift/configure${whose}? [y/N] `, false, cli)
}

async function askQuestion(
  text: string,
  byDefault: boolean,
  cli: Pick<CliContext, 'signal' | 'stdin' | 'stdout'>,
): Promise<boolean> {
  const lines = createInterface({ input: cli.stdin, output: cli.stdout as NodeJS.WritableStream })
  try {
    const answer = (await lines.question(text, { signal: cli.signal })).trim()
    return answer === '' ? byDefault : /^y(es)?$/i.test(answer)
  } finally {
    lines.close()
  }
}

/** Asks the forge only if neither the address nor a flag names its kind. */
async function printRuleset(options: InitOptions, cli: TurnContext): Promise<number> {
  const printer = new Printer(cli, options)
  const repository = await cli.openRepository(options.repo, {
    baseBranch: options.branch,
    trace: printer.trace,
  })
  const { defaultBranch } = await repository.listRefs(cli.signal)
  const setup = await cli.forgeSetup(options.repo, options.forge)
  const { remote } = repository
  const { requests, commands } = setup.protection({
    remote,
    baseBranch: options.branch ?? defaultBranch ?? 'main',
    bot: options.bot,
  })
  const list = { apiVersion: API_VERSION, kind: 'ProtectionRequestList', items: requests }
  if (!printList(list, printer)) printer.write(commands)
  return 0
}

function createContradiction(): Failure {
  return new Failure({
    code: 'BP1001',
    what: '--again and --remove are both set',
    why: 'one creates the proposal, the other removes it',
    remedy: 'remove one of them',
  })
}
