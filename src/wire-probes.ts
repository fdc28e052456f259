import { type ConnectOptions, probeCluster } from '@backporch/cluster/connect-cluster'
import {
  ALL_FORGES,
  type CredentialOptions,
  findForgeToken,
  findGitToken,
  findRemoteHost,
} from '@backporch/forge/forges'
import { probeForge } from '@backporch/forge/open-forge'
import { BOT, describeSigningKey } from '@backporch/git-store/commit'
import { findCredential } from '@backporch/git-store/git-credential'
import { runGit } from '@backporch/git-store/git-program'
import { probePush } from '@backporch/git-store/probe-push'
import { findInstallationKey } from './adapters/system/installation-key.ts'
import type { ClusterTarget, ProcessContext } from './cli/context/cli-context.ts'
import type { Probes } from './ports/probes.ts'

interface ProbeParts {
  readonly keyPath: string
  readonly credentialOptions: (location: ProcessContext) => CredentialOptions
  readonly connectOptions: (target: ClusterTarget, location: ProcessContext) => ConnectOptions
}

export function createProbes(
  location: ProcessContext,
  { keyPath, credentialOptions, connectOptions }: ProbeParts,
): Probes {
  const { cwd, env } = location
  return {
    push: async (remote, baseBranch, refs, signal) => {
      const host = findRemoteHost(remote)
      const token =
        host === undefined
          ? undefined
          : ((await findGitToken(remote, credentialOptions(location))) ?? findForgeToken(host, env))
      const serverTexts = ALL_FORGES.flatMap(({ pushTexts }) => pushTexts ?? [])
      const options = {
        remote,
        workingDirectory: cwd,
        environment: env,
        serverTexts,
        ...(token === undefined ? {} : { token }),
      }
      return probePush(options, baseBranch, refs, signal)
    },
    forge: (remote, kind, refs, signal) =>
      probeForge(
        {
          ...credentialOptions(location),
          remote,
          kind,
          longestWait: 10_000,
          findToken: async (url) => (await findCredential(url, env, signal))?.password,
          note: () => undefined,
        },
        refs,
        signal,
      ),
    access: (target, namespace, signal) =>
      probeCluster(connectOptions(target, location), namespace, signal),
    keySource: async () => ({
      from: await findInstallationKey({ value: env['BACKPORCH_KEY'], path: keyPath }),
      path: keyPath,
    }),
    signingKey: () => describeSigningKey(env, cwd, BOT.email),
    hasGitIdentity: async () => {
      const answers = await Promise.all(
        ['user.name', 'user.email'].map((name) =>
          runGit(['-C', cwd, 'config', '--get', name], env, new AbortController().signal),
        ),
      )
      return answers.every(
        (answer) => answer !== 'not-installed' && answer.status === 0 && answer.stdout.length > 1,
      )
    },
  }
}
