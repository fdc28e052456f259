import type { ClusterReader } from '@backporch/cluster/cluster'
import { convertToFailure, Failure, Failures } from '@backporch/kyaml/failure'
import { describeResourceId, type ResourceId } from '@backporch/kyaml/resource'
import type { TracedResource } from '@backporch/system/trace'
import { SCALER_KINDS } from '../../drift/noise/scaler.ts'
import { computeNeededRights } from '../../reconcile/onboard/rights/needed-rights.ts'
import {
  createRightsManifests,
  type RightsAccount,
} from '../../reconcile/onboard/rights/rights-manifests.ts'
import { runTurn } from '../../reconcile/turn/run-turn.ts'
import { formatDocument } from '../../record/write-document.ts'
import type { TurnContext } from '../context/cli-context.ts'
import type { RBAC_FLAGS } from '../flags/command-flags.ts'
import type { ValuesOf } from '../flags/options.ts'
import { printFailures } from '../print/print-failures.ts'
import { printNotes } from '../print/print-notes.ts'
import { runWithSession, type SessionOptions } from '../session/turn-session.ts'

type RbacOptions = ValuesOf<typeof RBAC_FLAGS> & Omit<SessionOptions, 'output'>

/** Observes once with the account of the kubeconfig, and prints the rights that this took. */
export async function printRights(
  packages: readonly string[],
  options: RbacOptions,
  cli: TurnContext,
): Promise<number> {
  if (options.live !== undefined)
    throw new Failure({
      code: 'BP1001',
      what: '--live and rbac exclude each other',
      why: 'a recording has no API server, whose kinds the rights name',
      remedy: 'run rbac with a kubeconfig that may read everything that the packages declare',
    })
  const account = parseAccount(options.account)
  const requests: TracedResource[] = []
  const traced: TurnContext = {
    ...cli,
    openCluster: (target) =>
      cli.openCluster({
        ...target,
        trace: (request) => {
          if (request.resource !== undefined) requests.push(request.resource)
          target.trace?.(request)
        },
      }),
  }
  const scope = { packages, gitAlone: true, readOnly: true }
  return runWithSession(
    traced,
    { ...options, output: 'table' },
    scope,
    async ({ ports, request, progress, printer }) => {
      const turn = await runTurn(ports, { ...request, mode: 'read' }, cli.signal)
      progress.end()
      await listScalers(ports.cluster, cli.signal)
      const failures = turn.units.flatMap((unit) => (unit.state === 'failed' ? unit.failures : []))
      const [first, ...others] = failures
      if (first !== undefined && turn.units.every(({ state }) => state === 'failed'))
        throw new Failures([first, ...others])
      const objects = turn.units.flatMap((unit): readonly ResourceId[] =>
        unit.state === 'planned'
          ? unit.observation.verdicts.flatMap(({ id, state }) => (state === 'outside' ? [] : [id]))
          : [],
      )
      const { level, namespaced: isNamespaced = false, kubernetesEvents: events = false } = options
      const { rights, unserved } = computeNeededRights({
        requests,
        objects,
        level,
        events,
        isNamespaced,
      })
      const manifests = createRightsManifests(account, rights, { level, events })
      cli.stdout.write(manifests.map(formatDocument).join('---\n'))
      // Their kinds are missing from the rights.
      printFailures(failures, cli, { verbose: options.verbose === true })
      printNotes(
        unserved.map((id) => ({
          cause: 'not-observed',
          subject: describeResourceId(id),
          text: 'the API server does not serve this kind, so no rule names it: run rbac again once its CustomResourceDefinition is applied',
        })),
        printer,
      )
      return unserved.length + failures.length === 0 ? 0 : 3
    },
  )
}

/** A turn asks for them where a count differs, and the controller watches them. */
async function listScalers(reader: ClusterReader, signal: AbortSignal): Promise<void> {
  for (const [group, kind] of SCALER_KINDS) {
    try {
      await reader.list(group, kind, signal)
    } catch (thrown) {
      signal.throwIfAborted()
      if (convertToFailure(thrown).code !== 'BP3009') throw thrown
    }
  }
}

function parseAccount(text: string): RightsAccount {
  const [namespace = '', name = '', ...more] = text.split('/')
  const isLabel = (each: string): boolean => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(each)
  if (more.length === 0 && isLabel(namespace) && isLabel(name)) return { namespace, name }
  throw new Failure({
    code: 'BP1001',
    what: `--account ${text} is not a ServiceAccount`,
    why: 'it is not a namespace and a name, divided by one slash',
    remedy: 'write it as backporch/backporch',
  })
}
