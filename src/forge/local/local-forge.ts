/** The `proposed/` branch is the proposal, and a decision is one push. */
import type { PackageRepository } from '@backporch/git-store/package-repository'
import { CONFIGURE_BRANCH, LEDGER_BRANCH } from '@backporch/git-store/ref-name'
import type { ObjectId } from '@backporch/kyaml/files'
import type { ForgeSetup } from '../ports/forge-setup.ts'
import type {
  Forge,
  ForgeDialect,
  KnownProposal,
  OpenedProposal,
  ProposalClose,
  ProposalMerge,
  WantedProposal,
} from '../ports/hosted-forge.ts'

const DIALECT: ForgeDialect = {
  name: 'git',
  bodyLimit: 58_000,
  titleLimit: 256,
  alerts: false,
  folds: false,
  fileUrl: () => '',
  branchFileUrl: () => '',
}

export const LOCAL_SETUP: ForgeSetup = {
  rights: [
    {
      name: 'push',
      why: `to drafts/, proposed/, ${LEDGER_BRANCH}, ${CONFIGURE_BRANCH}, revision tags and, to approve, the base branch`,
    },
  ],
  protection: () => ({
    requests: [],
    commands:
      '# git alone has no rules to set: protect the base branch and drift-ledger where the repository is served.\n',
  }),
}

export class LocalForge implements Forge {
  readonly dialect = DIALECT
  readonly setup = LOCAL_SETUP
  readonly writeCount = { dryRun: false, count: 0 }
  private readonly repository: PackageRepository

  constructor(repository: PackageRepository) {
    this.repository = repository
  }

  /** The ledger and the base branch show how a deleted branch ended. */
  async readProposals(): Promise<readonly KnownProposal[]> {
    return []
  }

  async ensureProposal({ ref }: WantedProposal): Promise<OpenedProposal> {
    return { label: ref.replace(/^refs\/heads\//, ''), url: '', number: undefined }
  }

  async merge(
    { proposal, base, merge, commit: made, tag, along }: ProposalMerge,
    signal: AbortSignal,
  ): Promise<ObjectId> {
    const commit = made ?? (await this.repository.write(merge))
    await this.repository.push(
      [
        { ref: base.ref, from: base.commit, to: commit },
        ...(tag === undefined ? [] : [{ ref: tag, from: null, to: commit }]),
        { ref: proposal.ref, from: proposal.commit, to: null },
        ...along,
      ],
      signal,
    )
    return commit
  }

  async close({ proposal, along }: ProposalClose, signal: AbortSignal): Promise<void> {
    await this.repository.push(
      [{ ref: proposal.ref, from: proposal.commit, to: null }, ...along],
      signal,
    )
  }
}
