"""The write protocol: decide what an input changes, write the history, apply the effects, save the job."""
