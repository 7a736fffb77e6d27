"""Writing the typed form: as LLVM's text (`llvm`), as C (`c99`), for readers (`plain_text`)."""
