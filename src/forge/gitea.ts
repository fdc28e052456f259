export { GiteaClient } from './gitea/gitea-client.ts'
export { createGiteaForge } from './gitea/gitea-forge.ts'
export { GITEA_SETUP } from './gitea/gitea-setup.ts'
