import type { ForgePullRequest, HostedForge } from '@backporch/forge/hosted-forge'
import type { PackageRepository } from '@backporch/git-store/package-repository'
import { Failure } from '@backporch/kyaml/failure'
import { readObjectId } from '@backporch/kyaml/files'
import { previewText } from '../../proposal/preview/preview-text.ts'
import { preview as previewMerge } from '../../reconcile/observe/preview/preview.ts'
import {
  getPreviewHead,
  writePreview,
} from '../../reconcile/observe/preview/preview-pull-request.ts'
import type { PreviewHead } from '../../reconcile/observe/preview/preview-request.ts'
import { isHosted } from '../../reconcile/repository/is-hosted.ts'
import type { Preview } from '../../record/documents/preview.ts'
import type { CliContext, TurnContext } from '../context/cli-context.ts'
import type { PREVIEW_FLAGS } from '../flags/command-flags.ts'
import { getWorstExitStatus } from '../flags/exit-status.ts'
import type { FleetOptions, ForgeOptions, ValuesOf } from '../flags/options.ts'
import { printPreview, printPreviewFailures } from '../print/print-preview.ts'
import { printList } from '../report/print-document.ts'
import { runWithSession, type Session, type SessionOptions } from '../session/turn-session.ts'

type PreviewOptions = ValuesOf<typeof PREVIEW_FLAGS> & SessionOptions & ForgeOptions & FleetOptions

/** For an untrusted head. */
export const NOTHING_ALLOWED = {
  exec: [],
  modules: [],
  images: [],
  render: [],
  engine: undefined,
} as const

/**
 * @returns 0, or the status of a failed build or unusable policy; an unreadable cluster is part of
 * the answer
 */
export async function preview(
  packages: readonly string[],
  options: PreviewOptions,
  cli: TurnContext,
): Promise<number> {
  checkFlags(options)
  const gitAlone = options.pullRequest === undefined
  return runWithSession(
    cli,
    options,
    { packages, gitAlone, readOnly: true, clusterOptional: true },
    async (session) => {
      const { progress, printer, ports, request } = session
      const forge = gitAlone ? undefined : requireHostedForge(ports.forge)
      const pull = forge && (await forge.readPullRequest(options.pullRequest ?? 0, cli.signal))
      const head =
        pull === undefined ? await findHead(ports.repository, options, cli) : getPreviewHead(pull)
      const branch = pull === undefined ? options.branch : pull.baseBranch
      const found = await previewMerge(
        { repository: ports.repository, clusters: await listPreviewClusters(session, cli) },
        {
          observe: { ...request, git: { ...request.git, branch } },
          head: { ...head, fork: head.fork || options.fork === true },
          untrusted: await cli.openRenderer(NOTHING_ALLOWED),
        },
        cli.signal,
      )
      progress.end()
      const dialect = ports.forge.dialect
      if (printer.output === 'markdown')
        printer.write(previewText(found, { dialect, version: cli.version }))
      else if (!printList(found, printer)) printPreview(found, printer)
      const failures = printPreviewFailures(found, printer)
      if (options.comment === true && forge !== undefined && pull !== undefined)
        await writeComment(forge, pull, found, cli)
      return failures.length === 0 ? 0 : getWorstExitStatus(failures)
    },
  )
}

async function writeComment(
  forge: HostedForge,
  pull: ForgePullRequest,
  found: Preview,
  cli: Pick<CliContext, 'signal' | 'stderr' | 'version'>,
): Promise<void> {
  const written = await writePreview({ forge, version: cli.version }, pull, found, cli.signal)
  if (written === 'moved')
    cli.stderr.write(`note: the head of ${pull.label} has changed, so its comment is not updated\n`)
}

function checkFlags({ head, pullRequest, comment, branch }: PreviewOptions): void {
  if (head === undefined && pullRequest === undefined)
    throw createUsageFailure(
      'nothing to preview is given',
      'neither --head nor --pull-request is given',
      'give --head BRANCH, or --pull-request NUMBER',
    )
  if (comment === true && pullRequest === undefined)
    throw createUsageFailure(
      '--comment needs a pull request',
      'the comment is written on one',
      'add --pull-request NUMBER',
    )
  if (branch !== undefined && pullRequest !== undefined)
    throw createUsageFailure(
      '--branch and --pull-request are both set',
      'a pull request has its own base branch',
      'remove --branch',
    )
}

function createUsageFailure(what: string, why: string, remedy: string): Failure {
  return new Failure({ code: 'BP1001', what, why, remedy })
}

function requireHostedForge(forge: Session['ports']['forge']): HostedForge {
  if (isHosted(forge)) return forge
  throw createUsageFailure(
    'there is no forge with pull requests',
    'the repository is used with git alone',
    'give --head BRANCH, or a token of the forge',
  )
}

async function findHead(
  repository: PackageRepository,
  { head = '', fork }: PreviewOptions,
  cli: Pick<CliContext, 'signal'>,
): Promise<PreviewHead> {
  const { refs } = await repository.listRefs(cli.signal)
  const named = [`refs/heads/${head}`, `refs/tags/${head}`, head]
    .map((ref) => refs.get(ref))
    .find((commit) => commit !== undefined)
  const commit = named ?? readObjectId(head)
  if (commit !== undefined) return { name: head, commit, fork: fork === true }
  throw new Failure({
    code: 'BP1003',
    what: `there is no branch, tag or commit ${JSON.stringify(head.slice(0, 300))}`,
    where: repository.remote,
    why: 'it is neither a ref of the repository nor a commit id of 40 digits',
    remedy: 'push the branch, or give the full id of a commit of the repository',
    retry: 'on-change',
  })
}

export async function listPreviewClusters(
  { clusters }: Pick<Session, 'clusters'>,
  cli: Pick<CliContext, 'offlineCluster'>,
) {
  return Promise.all(
    clusters.map(async ({ reader }) => ({
      reader,
      offline: await cli.offlineCluster(reader.name),
    })),
  )
}
