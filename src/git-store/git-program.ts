export { buildGitEnvironment, readGitText, runGit } from './program/git-program.ts'
