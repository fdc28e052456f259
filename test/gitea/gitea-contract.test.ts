/** The contract of every hosted forge, on the real Gitea. */
import { test } from 'node:test'
import { forgeContract } from '../forge/forge-contract.ts'
import { isApiWrite } from './faulty-proxy.ts'
import { makeGiteaGround } from './gitea-ground.ts'
import { sharedGitea } from './shared-gitea.ts'

const gitea = await sharedGitea()
if (gitea.state === 'unavailable') test('forge contract: Gitea', { skip: gitea.why }, () => {})
else {
  forgeContract('Gitea', async () => {
    const ground = await makeGiteaGround(gitea)
    const { proxy, repository, human, writer, reader } = ground
    return {
      repository,
      human,
      tellsEditors: false,
      people: { writer: writer.name, reader: reader.name },
      openForge: () => ground.openForge(),
      openDryRunForge: () => ground.openDryRunForge(),
      writes: () => proxy.requests.filter(isApiWrite).length,
      loseNextAnswer: () => {
        proxy.fault = (request) => {
          if (!isApiWrite(request)) return undefined
          proxy.fault = () => undefined
          return { kind: 'lost' }
        }
      },
      close: async () => {
        await ground.close()
        await gitea.stop()
      },
    }
  })
}
